import { describe, expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { HookChainAction } from '../files/rule-schema.ts'
import { type FiringEvent, fillTemplate } from '../rule-templates.ts'
import { runHookChainAction } from './hook-chain-actions.ts'
import type { HookChainsRuntime, LaunchFallbackRequest, NotifyTeamRequest } from './hook-chains-runtime.ts'

const event: FiringEvent = {
  ruleId: 'r',
  eventName: 'TaskCompleted',
  outcome: 'failed',
  payload: { task_id: '7', task_subject: 'Build', task_description: 'All of it', error: 'boom' },
}
/** A variable in a template. */
const of = (name: string) => `\${${name}}`
const run = (action: HookChainAction, runtime: HookChainsRuntime = {}, at = event) =>
  runHookChainAction(action, at, { runtime, clock: fakeClock() })

describe('spawn_fallback_agent', () => {
  const spawn = { type: 'spawn_fallback_agent' } as const

  test('4.6 #102 CH-54 CH-74 fails without a launcher', async () => {
    expect(await run(spawn)).toEqual({
      status: 'failed',
      reason: 'No fallback agent launcher is registered in runtime context',
    })
  })

  async function requested(action: HookChainAction, at = event, runtime: HookChainsRuntime = {}) {
    const requests: LaunchFallbackRequest[] = []
    await run(
      action,
      {
        ...runtime,
        launchFallbackAgent: async (request) => {
          requests.push(request)
          return { launched: true }
        },
      },
      at,
    )
    return requests[0] ?? expect.fail('nothing was launched')
  }

  test('CH-55 the launcher gets the event, a description and a prompt, in the background', async () => {
    const { signal } = new AbortController()
    const { prompt, ...rest } = await requested({ ...spawn, agentType: 'fixer', model: 'sonnet' }, event, {
      signal,
    })
    expect(rest).toEqual({
      ruleId: 'r',
      eventName: 'TaskCompleted',
      outcome: 'failed',
      description: 'Fallback recovery: TaskCompleted (failed)',
      agentType: 'fixer',
      model: 'sonnet',
      runInBackground: true,
      payload: event.payload,
      signal,
    })
    expect(prompt).not.toBe('')
    const bare = await requested({ ...spawn, description: 'Mine' })
    expect(bare).toMatchObject({ description: 'Mine' })
    expect(Object.keys(bare)).not.toContain('agentType')
  })

  test.each([
    [
      { launched: true, agentId: 'a1' },
      { status: 'executed', detail: 'Fallback agent launched: a1' },
    ],
    [{ launched: true }, { status: 'executed', detail: 'Fallback agent launched' }],
    [
      { launched: false, reason: 'full' },
      { status: 'failed', reason: 'full' },
    ],
    [{ launched: false }, { status: 'failed', reason: 'Fallback launcher declined to start an agent' }],
  ])('CH-56 %j becomes %j', async (reply, result) => {
    expect(await run(spawn, { launchFallbackAgent: async () => reply })).toEqual(result)
  })

  test('CH-56 a launcher that throws fails the action', async () => {
    const launchFallbackAgent = () => Promise.reject(new Error('no room'))
    expect(await run(spawn, { launchFallbackAgent })).toEqual({
      status: 'failed',
      reason: 'Fallback agent launch failed: no room',
    })
  })

  test('CH-57 the default prompt has a line for each thing that is known', async () => {
    const { prompt } = await requested(spawn)
    const lines = prompt.split('\n')
    expect(lines.slice(1, 7)).toEqual([
      'Event: TaskCompleted',
      'Outcome: failed',
      'Rule ID: r',
      'Task subject: Build',
      'Task description: All of it',
      'Failure details: boom',
    ])
    expect(lines[7]).toMatch(/^Goal: /)
    expect(lines[8]).toBe('Failure payload JSON:')
    expect(JSON.parse(lines.slice(9).join('\n'))).toEqual(event.payload)
    const bare = (await requested(spawn, { ...event, payload: {} })).prompt
    expect(bare).not.toMatch(/Task subject|Task description|Failure details/)
  })
})

describe('templates', () => {
  test('CH-59 names in braces and bare names are filled, unknown names are empty, others stay', () => {
    expect(
      fillTemplate(`${of('RULE_ID')} $OUTCOME [${of('NOTHING')}$NEITHER] ${of('lower')} $lower $`, event),
    ).toBe(`r failed [] ${of('lower')} $lower $`)
    const tricky = { ...event, payload: { error: `${of('RULE_ID')} $& $1` } }
    expect(fillTemplate(`<${of('ERROR')}>`, tricky)).toBe(`<${of('RULE_ID')} $& $1>`)
  })

  const all = [
    'EVENT_NAME',
    'OUTCOME',
    'RULE_ID',
    'TASK_SUBJECT',
    'TASK_DESCRIPTION',
    'TASK_ID',
    'ERROR',
    'PAYLOAD_JSON',
  ]
    .map(of)
    .join('|')
  const filled = `TaskCompleted|failed|r|Build|All of it|7|boom|${JSON.stringify(event.payload, undefined, 2)}`

  test('CH-60 all eight variables work in every template', async () => {
    const launched: string[] = []
    const sent: NotifyTeamRequest[] = []
    await run(
      { type: 'spawn_fallback_agent', promptTemplate: all },
      {
        launchFallbackAgent: async ({ prompt }) => {
          launched.push(prompt)
          return { launched: true }
        },
      },
    )
    await run(
      { type: 'notify_team', teamName: 't', summary: all, messageTemplate: all },
      {
        readTeam: async () => ({ members: [{ name: 'a' }] }),
        notifyTeam: async (request) => {
          sent.push(request)
          return { sent: true }
        },
      },
    )
    expect([launched[0], sent[0]?.summary, sent[0]?.message]).toEqual([filled, filled, filled])
  })

  test('CH-61 ERROR is error or reason, not message', () => {
    const at = (payload: Record<string, unknown>) => fillTemplate(of('ERROR'), { ...event, payload })
    expect([
      at({ error: '', reason: 'why' }),
      at({ message: 'text' }),
      at({ error: 'e', reason: 'r' }),
    ]).toEqual(['why', '', 'e'])
  })
})

describe('notify_team', () => {
  const notify = { type: 'notify_team' } as const
  const members = ['lead', 'a', 'b'].map((name) => ({ name }))

  function mailboxes(more: HookChainsRuntime = {}) {
    const written: { to: string; message: unknown; team: string }[] = []
    const asked: string[] = []
    const runtime: HookChainsRuntime = {
      readTeam: async (name) => {
        asked.push(name)
        return { members }
      },
      writeToMailbox: async (to, message, team) => void written.push({ to, message, team }),
      ...more,
    }
    return { written, asked, runtime }
  }

  test('CH-62 the team is that of the action, the runtime, the event, the host', async () => {
    const asked = async (action: object, runtime: HookChainsRuntime, payload = {}) => {
      const at = mailboxes(runtime)
      await run({ ...notify, ...action }, at.runtime, { ...event, payload })
      return at.asked[0]
    }
    const runtime = { teamName: 'runtime', hostTeamName: 'host' }
    expect(await asked({ teamName: 'action' }, runtime, { team_name: 'event' })).toBe('action')
    expect(await asked({}, runtime, { team_name: 'event' })).toBe('runtime')
    expect(await asked({}, { hostTeamName: 'host' }, { team_name: 'event' })).toBe('event')
    expect(await asked({}, { hostTeamName: 'host' }, { teamName: 'event' })).toBe('event')
    expect(await asked({}, { hostTeamName: 'host' })).toBe('host')
    expect(await run(notify, mailboxes().runtime)).toEqual({
      status: 'skipped',
      reason: 'No team context is available for notify_team action',
    })
  })

  test('4.6 #102 CH-63 CH-66 a team that does not exist skips the action, also with a callback', async () => {
    const runtime = {
      teamName: 'mesh',
      readTeam: async () => undefined,
      notifyTeam: async () => ({ sent: true }),
    }
    expect(await run(notify, runtime)).toEqual({
      status: 'skipped',
      reason: 'Team file not found for team mesh',
    })
    expect(await run(notify, { teamName: 'mesh' })).toMatchObject({ status: 'skipped' })
  })

  test.each([
    [undefined, ['a', 'b']],
    [[], ['a', 'b']],
    [
      ['a', '*'],
      ['a', 'b'],
    ],
    [
      ['b', 'none', 'lead'],
      ['b', 'lead'],
    ],
  ])('CH-64 recipients %j are %j', async (recipients, expected) => {
    const at = mailboxes({ teamName: 't', senderName: 'lead' })
    await run({ ...notify, ...(recipients === undefined ? {} : { recipients }) }, at.runtime)
    expect(at.written.map(({ to }) => to)).toEqual(expected)
  })

  test('CH-64 nobody left to notify skips the action', async () => {
    const at = mailboxes({ teamName: 't' })
    expect(await run({ ...notify, recipients: ['none'] }, at.runtime)).toEqual({
      status: 'skipped',
      reason: 'No eligible recipients for notify_team action',
    })
  })

  test('CH-65 each recipient gets sender, text, summary, colour and time', async () => {
    const at = mailboxes({ teamName: 't', hostColor: 'blue', hostAgentName: 'lead' })
    expect(await run({ ...notify, messageTemplate: `Task ${of('TASK_ID')}` }, at.runtime)).toEqual({
      status: 'executed',
      detail: 'Team notification sent to 2 recipient(s)',
    })
    const message = {
      from: 'lead',
      text: 'Task 7',
      summary: 'Hook chain r triggered (TaskCompleted/failed)',
      color: 'blue',
      timestamp: '2023-11-14T22:13:20.000Z',
    }
    expect(at.written).toEqual([
      { to: 'a', message, team: 't' },
      { to: 'b', message, team: 't' },
    ])
    const named = mailboxes({ teamName: 't', senderName: 'me', hostAgentName: 'lead' })
    await run(notify, named.runtime)
    expect(named.written).toMatchObject([{ message: { from: 'me' } }, {}, {}])
    const nameless = mailboxes({ teamName: 't' })
    await run(notify, nameless.runtime)
    expect(nameless.written[0]).toMatchObject({ message: { from: 'self-healing-mesh' } })
  })

  test('CH-66 the callback decides whether the message was sent', async () => {
    const withCallback = (notifyTeam: NonNullable<HookChainsRuntime['notifyTeam']>) =>
      run(notify, mailboxes({ teamName: 't', notifyTeam }).runtime)
    expect(await withCallback(async () => ({ sent: true, recipientCount: 5 }))).toEqual({
      status: 'executed',
      detail: 'Team notification sent to 5 recipient(s)',
    })
    expect(await withCallback(async () => ({ sent: false }))).toEqual({
      status: 'skipped',
      reason: 'notify_team callback declined to send',
    })
    expect(await withCallback(() => Promise.reject(new Error('down')))).toEqual({
      status: 'failed',
      reason: 'notify_team callback failed: down',
    })
  })

  test('CH-67 a mailbox that cannot be written rejects the dispatch', async () => {
    const writeToMailbox = () => Promise.reject(new Error('disk full'))
    await expect(run(notify, mailboxes({ teamName: 't', writeToMailbox }).runtime)).rejects.toThrow(
      'disk full',
    )
  })
})

describe('warm_remote_capacity', () => {
  const warm = { type: 'warm_remote_capacity' } as const
  const active = { isActive: () => true, listEnvironments: async () => [{ id: 'e1' }, { id: 'e2' }] }

  test('CH-69 the permission is asked before the callback', async () => {
    let called = false
    const warmRemoteCapacity = async () => {
      called = true
      return { warmed: true }
    }
    expect(await run(warm, { isPolicyAllowed: () => false, warmRemoteCapacity })).toEqual({
      status: 'skipped',
      reason: 'Remote sessions are blocked by policy',
    })
    expect(called).toBe(false)
    expect(
      await run(warm, { isPolicyAllowed: (name) => name === 'allow_remote_sessions', warmRemoteCapacity }),
    ).toMatchObject({
      status: 'executed',
    })
  })

  test.each<[string, HookChainsRuntime, string]>([
    ['an aborted signal', { signal: AbortSignal.abort(), isPolicyAllowed: () => false }, 'aborted'],
    ['no bridge', {}, 'Bridge is not active; warm_remote_capacity is a safe no-op'],
    [
      'a bridge that is off',
      { bridge: { ...active, isActive: () => false } },
      'Bridge is not active; warm_remote_capacity is a safe no-op',
    ],
    [
      'an unknown status',
      { bridge: { ...active, isActive: () => Promise.reject(new Error('?')) } },
      'Bridge status unavailable; warm_remote_capacity skipped',
    ],
    [
      'preconditions',
      { bridge: { ...active, failedPreconditions: async () => ['not_logged_in', 'no_git'] } },
      'Remote warm-up preconditions failed: not_logged_in, no_git',
    ],
    [
      'no environment',
      { bridge: { ...active, listEnvironments: async () => [] } },
      'No eligible remote environment available for warm-up',
    ],
  ])('4.6 #102 CH-68 %s skips the action', async (_, runtime, reason) => {
    expect(await run(warm, runtime)).toEqual({ status: 'skipped', reason })
  })

  test('CH-68 the first environment is warmed, and an error fails the action', async () => {
    expect(await run(warm, { bridge: active })).toEqual({
      status: 'executed',
      detail: 'Remote warm-up checked environment e1',
    })
    const broken = { ...active, listEnvironments: () => Promise.reject(new Error('offline')) }
    expect(await run(warm, { bridge: broken })).toEqual({
      status: 'failed',
      reason: 'Remote warm-up failed: offline',
    })
    const warmRemoteCapacity = async () => ({ warmed: true, environmentId: 'e9' })
    expect(await run(warm, { warmRemoteCapacity })).toMatchObject({
      detail: 'Remote warm-up checked environment e9',
    })
  })

  test('CH-70 a missing environment is created on request, under its usual name', async () => {
    const created: string[] = []
    const bridge = {
      isActive: () => true,
      listEnvironments: async () => [],
      createEnvironment: async (name: string) => {
        created.push(name)
        return { id: 'new' }
      },
    }
    expect(await run(warm, { bridge })).toMatchObject({ status: 'skipped' })
    expect(await run({ ...warm, createDefaultEnvironmentIfMissing: true }, { bridge })).toEqual({
      status: 'executed',
      detail: 'Remote warm-up checked environment new',
    })
    expect(created).toEqual(['OpenClaude Self-Healing Warmup'])
  })
})
