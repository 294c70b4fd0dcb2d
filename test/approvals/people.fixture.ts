import type { Running } from '../gateway/running.fixture.ts'

export const WITHIN_MS = 60_000

export const askingHook = {
  event: 'pre_tool_use',
  handler_type: 'script',
  name: 'careful',
  matcher: '^Bash$',
  config: {
    source: `function handle({ tool_input }) {
      if (/push/.test(tool_input.command)) return { decision: 'ask', reason: 'a push needs a person' }
      return { decision: 'allow' }
    }`,
  },
}

export const push = (command = 'git push --force') => ({ tool_name: 'Bash', tool_input: { command } })

/** A person of the tenant with a token of her own. */
export async function person(gateway: Running, name: string, role = 'approver') {
  const { body } = await gateway.call('POST', '/v1/tokens', { name, role })
  const headers = { authorization: `Bearer ${body.token}` }
  const call = (verb: string, path: string, given?: unknown) => gateway.call(verb, path, given, headers)
  const answer = (verdict: 'approve' | 'deny' | 'cancel' | 'revoke', id: string, more: object = {}) =>
    call('POST', `/v1/approvals/${id}/${verdict}`, more)
  return { name, token: String(body.token), call, answer }
}

export async function pendingOf(gateway: Running, count = 1) {
  const { body } = await gateway.until(
    () => gateway.call('GET', '/v1/approvals?status=pending'),
    ({ body: { approvals } }) => approvals.length === count,
  )
  return body.approvals
}

/** A call that waits for a person. */
export function heldCall(gateway: Running, command?: string, more: object = {}) {
  return gateway.dispatch('pre_tool_use', push(command), {
    envelope: { session: 's1', agent: 'claude-code', cwd: '/srv/shop' },
    within_ms: WITHIN_MS,
    ...more,
  })
}

/** The steps of the approvals of a session, as the audit log has them. */
export async function auditSteps(gateway: Running, session = 's1') {
  const { body } = await gateway.call('GET', `/v1/sessions/${session}/timeline`)
  const steps = body.events.filter((each: { event: string }) => each.event === 'agent_event')
  return Promise.all(
    steps.map(async ({ event_id }: { event_id: string }) => {
      const event = await gateway.call('GET', `/v1/events/${event_id}`)
      return event.body.request.payload
    }),
  )
}
