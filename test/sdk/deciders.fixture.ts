import { onTestFinished } from 'vitest'
import { createClient } from '../../src/client/index.ts'
import type { Running } from '../gateway/running.fixture.ts'

/** A client of a gateway that runs. */
export function clientOf({ url, token }: Pick<Running, 'url' | 'token'>) {
  const client = createClient({ url, token })
  onTestFinished(() => client.close())
  return client
}

/** A client of a gateway that is not there. */
export function clientOfNobody() {
  const client = createClient({ url: 'http://127.0.0.1:1', token: 'x' })
  onTestFinished(() => client.close())
  return client
}

/** A hook of a gateway that decides by script. */
export function scriptHook(event: string, matcher: string, body: string) {
  return { event, handler_type: 'script', matcher, config: { source: `function handle(e) { ${body} }` } }
}

/** A hook that asks a person about every call of the tool. */
export function askingHook(matcher: string) {
  return scriptHook('pre_tool_use', matcher, 'return { decision: "ask", reason: "sure?" }')
}

/** A person at the gateway answers the next question, with other arguments if given. */
export async function answerNext(gateway: Running, verdict: 'approve' | 'deny', more: object = {}) {
  const { body } = await gateway.until(
    () => gateway.call('GET', '/v1/approvals?status=pending'),
    ({ body: { approvals } }) => approvals.length > 0,
  )
  const person = await gateway.call('POST', '/v1/tokens', { name: `ada-${Math.random()}`, role: 'approver' })
  const headers = { authorization: `Bearer ${person.body.token}` }
  const path = `/v1/approvals/${body.approvals[0].approval_id}/${verdict}`
  const { status } = await gateway.call('POST', path, more, headers)
  if (status !== 200) throw new Error(`the answer was refused with ${status}`)
}
