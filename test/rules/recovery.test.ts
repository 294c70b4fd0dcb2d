import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { running } from '../gateway/running.fixture.ts'
import { runnerProcess, runsOf, untilEnded } from '../runs/runs.fixture.ts'
import { httpReceiver, smtpReceiver } from './receivers.fixture.ts'
import { failedTool, onlyActions, rulesOf } from './recovery.fixture.ts'

const HANG = 180_000
const onFailedTool = { event: 'PostToolUseFailure', outcome: 'failed' }

test(
  'a run fails, its fallback run succeeds, and the mailbox and a webhook have the message',
  async () => {
    const receiver = await httpReceiver()
    const gateway = await running({ outbound: { allow: [receiver.host] } })
    const { agent, start } = runsOf(gateway)
    const { switchOn, rule, team, mailbox, settled, audited, simulate, ok } = rulesOf(gateway)
    await switchOn()
    await agent('breaks', 'throw new Error("no ink")')
    await agent('mends', 'return { mended: p.prompt }')
    await team('ops', [
      { name: 'ada', channels: [{ type: 'webhook', url: `${receiver.url}/team` }] },
      { name: 'bob' },
    ])
    await rule({
      id: 'mend',
      trigger: { event: 'run_finish', outcome: 'failed' },
      condition: { eventFieldEquals: { agent_name: 'breaks' } },
      actions: [
        { type: 'spawn_fallback_agent', id: 'fallback', agentType: 'mends', promptTemplate: 'Mend $ERROR' },
        { type: 'notify_team', id: 'tell', teamName: 'ops', summary: 'Rule $RULE_ID fired' },
      ],
    })
    await runnerProcess(gateway)
    const failed = await start('breaks')
    expect(await untilEnded(gateway, failed.run_id)).toMatchObject({ status: 'failed' })
    const [firing] = await settled(1)
    expect(firing).toMatchObject({
      ...{ rule_id: 'mend', source: 'stored', event: 'run_finish', outcome: 'failed', run_id: failed.run_id },
      actions: [
        { action_id: 'fallback', status: 'executed' },
        { action_id: 'tell', status: 'executed', detail: 'Team notification sent to 2 recipient(s)' },
      ],
    })
    const fallback = await untilEnded(gateway, firing.actions[0].run_id)
    expect(fallback).toMatchObject({
      ...{ status: 'completed', agent_name: 'mends', parent_run_id: failed.run_id, depth: 1 },
      ...{ parent_session_id: failed.session_id, created_by: 'rule:mend' },
    })
    expect(fallback.parameters.prompt).toMatch(/^Mend .*no ink/s)
    expect((await mailbox('?team=ops')).map(({ member, summary }) => [member, summary]).toSorted()).toEqual([
      ['ada', 'Rule mend fired'],
      ['bob', 'Rule mend fired'],
    ])
    await gateway.until(
      async () => receiver.received,
      (received) => received.length === 1,
    )
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      ...{ type: 'team_message', team: 'ops', member: 'ada', rule_id: 'mend', firing_id: firing.firing_id },
    })
    const shown = await gateway.until(
      () => ok('GET', `/v1/rule-firings/${firing.firing_id}`),
      ({ messages }) => messages[0]?.deliveries[0]?.state === 'done',
    )
    expect(shown.messages).toMatchObject([
      {
        member: 'ada',
        channels: ['webhook'],
        deliveries: [{ type: 'webhook', attempts: 1, last_error: null }],
      },
      { member: 'bob', channels: [], deliveries: [] },
    ])
    const windows = shown.firing.actions.map(({ dedup_left_ms: left }: { dedup_left_ms: number }) => left)
    expect(windows).toEqual([expect.toSatisfy((ms) => ms > 0 && ms <= 30_000), expect.any(Number)])
    // The recorded event is the same cause: it meets the rule, and its windows go on.
    const { rules, outcome } = await simulate({ event_id: firing.event_id })
    expect(outcome).toBe('failed')
    expect(rules).toMatchObject([{ id: 'mend', matches: true, guard: expect.stringContaining('cooldown') }])
    const rows = await gateway.until(
      () => audited(firing.event_id),
      (list) => list.length === 2,
    )
    expect(rows.map(({ handler_type, decision }) => [handler_type, decision]).toSorted()).toEqual([
      ['notify_team', 'allow'],
      ['spawn_fallback_agent', 'allow'],
    ])
  },
  HANG,
)

test('CH-1 rules are off by default, and the switch of the gateway stops those of every tenant', async () => {
  const gateway = await running()
  const { rule, switchOn, settings, settled, firings, team, audited } = rulesOf(gateway)
  await team('ops', [{ name: 'ada' }])
  await rule({
    id: 'r',
    trigger: onFailedTool,
    cooldownMs: 0,
    actions: [{ type: 'notify_team', teamName: 'ops' }],
  })
  await gateway.dispatch('post_tool_use_failure', failedTool)
  await switchOn()
  const { body } = await gateway.dispatch('post_tool_use_failure', { ...failedTool, error: 'second' })
  const [firing] = await settled(1)
  expect(firing.event_id).toBe(body.event_id)
  await settings({ rules_enabled: true }, 'tenant')
  await settings({ rules_enabled: false })
  const third = await gateway.dispatch('post_tool_use_failure', { ...failedTool, error: 'third' })
  expect(await audited(third.body.event_id)).toEqual([])
  expect(await firings()).toHaveLength(1)
})

test('CH-71 CH-72 CH-73 failed tools and completed tasks trigger rules, with what their hooks did', async () => {
  const gateway = await running()
  const { rule, switchOn, settled, team } = rulesOf(gateway)
  await switchOn({ default_team: 'ops' })
  await team('ops', [{ name: 'ada' }])
  const tell = (messageTemplate: string) => [{ type: 'notify_team', messageTemplate }]
  await rule({ id: 'tool', trigger: onFailedTool, actions: tell('$PAYLOAD_JSON') })
  await rule({
    id: 'done',
    trigger: { event: 'TaskCompleted', outcome: 'success' },
    actions: tell('$PAYLOAD_JSON'),
  })
  await rule({
    id: 'refused',
    trigger: { event: 'TaskCompleted', outcome: 'failed' },
    actions: tell('$PAYLOAD_JSON'),
  })
  await gateway.dispatch('PostToolUseFailure', failedTool, { envelope: { session: 's1' } })
  await gateway.dispatch('task_completed', { task_id: '1' })
  await settled(2)
  await gateway.hook({
    event: 'task_completed',
    handler_type: 'script',
    config: { source: 'function handle() { return { decision: "block", reason: "not done" } }' },
  })
  await gateway.dispatch('task_completed', { task_id: '2' })
  await settled(3)
  const { mailbox } = rulesOf(gateway)
  const texts = (await mailbox()).map(({ text }) => JSON.parse(text)).toReversed()
  expect(texts).toMatchObject([
    { tool_name: 'Edit', session_id: 's1', hook_blocking_error_count: 0, hook_execution_skipped: true },
    { task_id: '1', hook_blocking_error_count: 0, hook_prevented_continuation: false },
    { task_id: '2', hook_blocking_error_count: 1, hook_prevented_continuation: true },
  ])
})

test('a hook that fails and a turn that failed trigger rules', async () => {
  const gateway = await running({ functions: { fail: () => Promise.reject(new Error('broken guard')) } })
  const { rule, switchOn, settled } = rulesOf(gateway)
  await switchOn({ default_team: 'ops' })
  const actions = [{ type: 'notify_team' }]
  await rule({ id: 'hook', trigger: { event: 'hook_failure', outcome: 'failed' }, actions })
  await rule({ id: 'turn', trigger: { event: 'StopFailure', outcome: 'failed' }, actions })
  const hookId = await gateway.hook({
    event: 'pre_tool_use',
    handler_type: 'function',
    config: { name: 'fail' },
  })
  await gateway.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: {} })
  await gateway.dispatch('stop_failure', { error: 'overloaded' })
  const list = await settled(2)
  expect(list.map(({ rule_id, event }) => [rule_id, event]).toSorted()).toEqual([
    ['hook', 'hook_failure'],
    ['turn', 'stop_failure'],
  ])
  const { body } = await gateway.call('POST', '/v1/rules/simulate', {
    event: 'hook_failure',
    payload: { hook_id: hookId },
    outcome: 'failed',
  })
  expect(body.rules.find(({ id }: { id: string }) => id === 'hook')).toMatchObject({ matches: true })
})

test(
  'CH-32 a rule that would loop is cut at its depth, and the skip is recorded',
  async () => {
    const gateway = await running()
    const { agent, start } = runsOf(gateway)
    const { rule, switchOn, settled, audited, firings } = rulesOf(gateway)
    await switchOn()
    await agent('breaks', 'throw new Error("again")')
    await rule({
      id: 'loop',
      trigger: { event: 'run_finish', outcome: 'failed' },
      ...{ cooldownMs: 0, dedupWindowMs: 0 },
      actions: [{ type: 'spawn_fallback_agent', agentType: 'breaks' }],
    })
    await runnerProcess(gateway)
    await start('breaks')
    const list = await settled(2)
    const deepest = await untilEnded(gateway, list[0].actions[0].run_id)
    expect(deepest).toMatchObject({ status: 'failed', depth: 2 })
    const { rows } = await gateway.until(
      async () => {
        const { body } = await gateway.call('GET', `/v1/events?event=run_finish&limit=50`)
        const found = await Promise.all(
          body.events.map(({ event_id }: { event_id: string }) => audited(event_id)),
        )
        return { rows: found.flat().filter(({ decision }) => decision === 'skipped') }
      },
      ({ rows: found }) => found.length === 1,
    )
    expect(rows[0]).toMatchObject({
      code: 'guard.depth',
      metadata: { reason: 'max chain depth reached (2/2)' },
    })
    expect(await firings()).toHaveLength(2)
  },
  HANG,
)

test(
  '4.6 #102 each skip reason of the seed is provoked and recorded',
  async () => {
    const gateway = await running()
    const { rule, switchOn, settled, audited, team, ok } = rulesOf(gateway)
    await switchOn()
    await team('empty', [])
    interface RuleFields {
      readonly actions: readonly object[]
      readonly maxDepth?: number
    }
    // Each action has an audit row of its own, written when it has ended.
    const reasonsOf = async (
      id: string,
      fields: RuleFields,
      more: Readonly<Record<string, unknown>> = {},
    ) => {
      await rule({
        id,
        trigger: { event: 'task_completed' },
        condition: { eventFieldEquals: { about: id } },
        ...fields,
      })
      const event = await gateway.dispatch('task_completed', { about: id }, more)
      const rows = await gateway.until(
        () => audited(event.body.event_id),
        (list) => list.length >= fields.actions.length,
      )
      return rows.map(({ metadata }) => metadata.reason)
    }
    const warm = { type: 'warm_remote_capacity' }
    const notify = { type: 'notify_team' }
    expect(
      await reasonsOf('disabled', {
        actions: [
          { ...notify, enabled: false },
          { ...notify, teamName: 'none' },
        ],
      }),
    ).toEqual(expect.arrayContaining(['action disabled', 'Team file not found for team none']))
    expect(await reasonsOf('no-team', { actions: [notify] })).toEqual([
      'No team context is available for notify_team action',
    ])
    expect(await reasonsOf('nobody', { actions: [{ ...notify, teamName: 'empty' }] })).toEqual([
      'No eligible recipients for notify_team action',
    ])
    expect(await reasonsOf('policy', { actions: [warm] })).toEqual(['Remote sessions are blocked by policy'])
    await switchOn({ allow_remote_sessions: true })
    expect(await reasonsOf('bridge', { actions: [warm] })).toEqual([
      'Bridge is not active; warm_remote_capacity is a safe no-op',
    ])
    await ok('POST', '/v1/environments', {
      name: 'off',
      definition: { type: 'process', exec: ['true'], enabled: false },
    })
    expect(await reasonsOf('eligible', { actions: [warm] })).toEqual([
      'No eligible remote environment available for warm-up',
    ])
    expect(await reasonsOf('depth', { maxDepth: 0, actions: [notify] })).toEqual([
      'rule maxDepth reached (0/0)',
    ])
    expect(
      await reasonsOf('unknown-agent', { actions: [{ type: 'spawn_fallback_agent', agentType: 'nobody' }] }),
    ).toEqual(['There is no agent "nobody" that can be started'])
    expect(await reasonsOf('no-run', { actions: [{ type: 'retry_run' }] })).toEqual([
      'No run context is available for retry_run action',
    ])
    await settled(8)
    const again = await gateway.dispatch('task_completed', { about: 'policy' })
    const [cooling] = await gateway.until(
      () => audited(again.body.event_id),
      (list) => list.length > 0,
    )
    expect(cooling).toMatchObject({
      code: 'guard.cooldown',
      metadata: { reason: expect.stringMatching(/^rule cooldown active for \d+ms$/) },
    })
    await rule({
      id: 'dedup',
      trigger: { event: 'session_end' },
      cooldownMs: 0,
      actions: [
        { type: 'notify_team', id: 'once' },
        { type: 'notify_team', id: 'free', dedupWindowMs: 0 },
      ],
    })
    await gateway.dispatch('session_end', { reason: 'same' })
    await gateway.until(
      () => settled(1, '?rule_id=dedup'),
      (list) => list.length === 1,
    )
    const repeated = await gateway.dispatch('session_end', { reason: 'same' })
    const rows = await gateway.until(
      () => audited(repeated.body.event_id),
      (list) => list.length === 2,
    )
    expect(rows.map(({ code }) => code).toSorted()).toEqual(['guard.dedup', null].toSorted())
  },
  HANG,
)

test(
  'webhook, Slack-compatible webhook and mail carry the message; a receiver that fails is tried again',
  async () => {
    const receiver = await httpReceiver((n) => (n === 1 ? 503 : 200))
    const smtp = await smtpReceiver()
    const gateway = await running({ outbound: { allow: [receiver.host] } })
    const { rule, switchOn, settled, team } = rulesOf(gateway)
    await switchOn({ smtp: { host: '127.0.0.1', port: smtp.port, from: 'rules@hookhelm.example' } })
    await team('ops', [
      {
        name: 'ada',
        channels: [
          { type: 'webhook', url: `${receiver.url}/hook` },
          { type: 'slack', url: `${receiver.url}/slack` },
          { type: 'email', to: 'ada@example.com' },
        ],
      },
    ])
    const action = {
      type: 'notify_team',
      teamName: 'ops',
      summary: 'Tool failed',
      messageTemplate: 'Because: $ERROR',
    }
    await rule({ id: 'tell', trigger: onFailedTool, actions: [action] })
    await gateway.dispatch('post_tool_use_failure', failedTool)
    expect(onlyActions(await settled(1))).toMatchObject([{ status: 'executed' }])
    const received = await gateway.until(
      async () => receiver.received,
      (list) => list.length === 3,
    )
    const ids = received.map(({ headers }) => headers['webhook-id'])
    // The first attempt of one of the two failed, and came again under the same id.
    expect(new Set(ids).size).toBe(2)
    const slack = received.find(({ path }) => path === '/slack')
    expect(JSON.parse(slack?.body ?? '')).toEqual({ text: '*Tool failed*\nBecause: permission denied' })
    const hook = received.find(({ path }) => path === '/hook')
    expect(JSON.parse(hook?.body ?? '')).toMatchObject({
      summary: 'Tool failed',
      text: 'Because: permission denied',
    })
    const [mail] = await gateway.until(
      async () => smtp.mails,
      (list) => list.length === 1,
    )
    expect(mail?.to).toContain('ada@example.com')
    expect(mail?.data).toMatch(/Subject: Tool failed[\s\S]*Because: permission denied/)
  },
  HANG,
)

test(
  'run_command and call_webhook run with the handlers of hooks, and a failure is recorded',
  async () => {
    const receiver = await httpReceiver((n) => (n === 1 ? 200 : 404))
    const gateway = await running({ outbound: { allow: [receiver.host] } })
    const { rule, switchOn, settled } = rulesOf(gateway)
    await switchOn()
    const exec = (code: string) => ({ exec: [process.execPath, '-e', code] })
    await rule({
      id: 'act',
      trigger: onFailedTool,
      actions: [
        { type: 'run_command', config: exec('process.exit(0)') },
        { type: 'run_command', config: exec('process.exit(3)') },
        { type: 'call_webhook', config: { url: `${receiver.url}/a` } },
        { type: 'call_webhook', id: 'refused', config: { url: `${receiver.url}/b` } },
      ],
    })
    await gateway.dispatch('post_tool_use_failure', failedTool)
    expect(onlyActions(await settled(1))).toMatchObject([
      { status: 'executed', detail: 'The command ended with exit code 0' },
      { status: 'failed' },
      { status: 'executed', detail: 'The receiver answered 200' },
      { status: 'failed', reason: expect.stringContaining('404') },
    ])
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      event: 'post_tool_use_failure',
      error: 'permission denied',
    })
  },
  HANG,
)

test(
  'retry_run repeats a run with its parameters, at most so often',
  async () => {
    const gateway = await running()
    const { agent, start } = runsOf(gateway)
    const { rule, switchOn, settled, firings } = rulesOf(gateway)
    await switchOn({ rules_max_chain_depth: 9 })
    await agent('breaks', 'throw new Error("again " + p.n)')
    await rule({
      id: 'retry',
      trigger: { event: 'run_finish', outcome: 'failed' },
      ...{ cooldownMs: 0, dedupWindowMs: 0 },
      actions: [{ type: 'retry_run', maxRetries: 2 }],
    })
    await runnerProcess(gateway)
    await start('breaks', { n: 7 })
    const list = (await settled(3)).toReversed()
    expect(list.map(({ actions }) => actions[0].status)).toEqual(['executed', 'executed', 'skipped'])
    expect(list[2].actions[0].reason).toBe('retry limit reached (2/2)')
    expect(await untilEnded(gateway, list[1].actions[0].run_id)).toMatchObject({
      parameters: { n: 7 },
      depth: 2,
    })
    expect(await firings()).toHaveLength(3)
  },
  HANG,
)

function describeProcess(pid: number, column: 'ppid' | 'args'): string {
  return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' })
}

test(
  'CH-70 warm_remote_capacity starts a real runner that claims the waiting run, in a folder that the gateway lists',
  async () => {
    const gateway = await running()
    const { agent, start, ok } = runsOf(gateway)
    const { rule, switchOn, settled } = rulesOf(gateway)
    await switchOn({ allow_remote_sessions: true })
    const settings = { run_folders: [gateway.home] }
    await ok('PATCH', '/v1/settings', { settings, scope: 'gateway' })
    await agent('waits', 'return { done: process.ppid }')
    const { run_id } = await start('waits', {}, { project_dir: gateway.home })
    await rule({
      id: 'warm',
      trigger: onFailedTool,
      actions: [{ type: 'warm_remote_capacity', createDefaultEnvironmentIfMissing: true }],
    })
    await gateway.dispatch('post_tool_use_failure', failedTool)
    expect(onlyActions(await settled(1))).toMatchObject([
      { status: 'executed', detail: 'Remote warm-up checked environment OpenClaude Self-Healing Warmup' },
    ])
    expect(await untilEnded(gateway, run_id)).toMatchObject({ status: 'completed' })
    const { environments } = await ok('GET', '/v1/environments')
    expect(environments).toMatchObject([
      { name: 'OpenClaude Self-Healing Warmup', definition: { type: 'process' } },
    ])
    const { runners } = await ok('GET', '/runners')
    expect(runners).toHaveLength(1)
    // The runner outlives the gateway, so the test ends it. It starts the processes of runs through a helper.
    const { session_id } = await runsOf(gateway).run(run_id)
    const { result_data } = await runsOf(gateway).result(session_id)
    const runner = [result_data.done, Number(describeProcess(result_data.done, 'ppid'))].find((pid) =>
      describeProcess(pid, 'args').includes(' runner '),
    )
    expect(runner).toBeGreaterThan(1)
    process.kill(Number(runner), 'SIGKILL')
  },
  HANG,
)

test(
  'a fallback has the tools that both agents have; without a failed run, the configured ones',
  async () => {
    const gateway = await running()
    const { start, ok } = runsOf(gateway)
    const { rule, switchOn, settled } = rulesOf(gateway)
    await switchOn({ model_aliases: { sonnet: 'openai/gpt-test' } })
    const model = { type: 'autonomous', executor: { type: 'model' } }
    await ok('POST', '/agents', { name: 'limited', ...model, tools: ['Read', 'Edit'] })
    await ok('POST', '/agents', { name: 'mends', ...model, tools: ['Edit', 'Bash'] })
    const actions = [{ type: 'spawn_fallback_agent', agentType: 'mends', model: 'sonnet' }]
    await rule({
      id: 'run',
      trigger: { event: 'run_finish' },
      condition: { eventFieldEquals: { agent_name: 'limited' } },
      actions,
    })
    await rule({ id: 'tool', trigger: onFailedTool, actions: [{ type: 'spawn_fallback_agent' }] })
    const { run_id } = await start('limited')
    await ok('POST', `/runs/${run_id}/stop`)
    await gateway.dispatch('post_tool_use_failure', failedTool)
    const list = await settled(2)
    const started = list.map(({ actions: [action] }) => action.run_id)
    const { runner_id } = await ok('POST', '/runner/register', {
      ...{ hostname: 'here', project_dir: '', executor_profile: '', executor_type: 'command' },
    })
    const polled = await Promise.all(started.map(() => ok('GET', `/runner/runs?runner_id=${runner_id}`)))
    const byAgent = new Map(polled.map(({ run }) => [run.agent_name, run.blueprint]))
    expect(byAgent.get('mends')).toMatchObject({ tools: ['Edit'], model: 'openai/gpt-test' })
    expect(byAgent.get('general-purpose')).toMatchObject({ tools: ['Read'] })
  },
  HANG,
)
