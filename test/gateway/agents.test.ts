import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { trustStore } from '../../src/hook-files/trust.ts'
import { type Running, running } from './running.fixture.ts'
import { openLines } from './socket.fixture.ts'

const AGENT = { hookhelm: 1, agent: 'claude-code' }
const quiet = { exit: 0, stdout: '', stderr: '' }

const common = { session_id: 's1', cwd: '/nowhere', transcript_path: '/nowhere/t.jsonl', prompt_id: 'p1' }
const bash = (command: string, more: object = {}) => ({
  ...common,
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: 'toolu_1',
  ...more,
})

function agent({ socket = '' }: Running, hello: unknown = AGENT) {
  const lines = openLines(socket, hello)
  let id = 0
  return async (event: string, native: unknown, more: object = {}) => {
    id += 1
    lines.send({ id, event, native, ...more })
    const answer = await lines.next()
    expect(answer.id).toBe(id)
    return answer
  }
}

const script = (source: string) => ({
  event: 'pre_tool_use',
  handler_type: 'script',
  config: { source: `function handle(e) { ${source} }` },
})

test('a coding agent is answered in the shape that it honours', async () => {
  const gateway = await running()
  const ask = agent(gateway)
  expect(await ask('PreToolUse', bash('ls'), { within_ms: 1_000 })).toEqual({ id: 1, reply: quiet })
  await gateway.hook(
    script(`
      const { command } = e.toolInput
      if (command.includes('rm')) return { decision: 'block', reason: 'not here' }
      if (command.includes('push')) return { decision: 'ask', reason: 'who said so' }
      if (command.includes('cat')) return { decision: 'allow', updatedInput: { command: 'bat' } }
      return { decision: 'allow' }`),
  )
  const output = (answer: Record<string, unknown>) => {
    const { exit, stdout, stderr } = answer.reply as typeof quiet
    expect([exit, stderr]).toEqual([0, ''])
    return JSON.parse(stdout).hookSpecificOutput
  }
  expect(output(await ask('PreToolUse', bash('rm -rf /')))).toEqual({
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: 'not here',
  })
  expect(output(await ask('PreToolUse', bash('git push')))).toMatchObject({ permissionDecision: 'ask' })
  expect(output(await ask('PreToolUse', bash('cat x')))).toEqual({
    hookEventName: 'PreToolUse',
    updatedInput: { command: 'bat' },
  })
  expect(await ask('PreToolUse', bash('ls'))).toMatchObject({ reply: quiet })
})

test('4.12 #162 an event nobody knows goes on, is kept, and is said once', async () => {
  const gateway = await running()
  const ask = agent(gateway)
  for (const _ of [1, 2])
    expect(await ask('SomethingNew', { ...common, detail: 7 })).toMatchObject({ reply: quiet })
  expect(gateway.logged.filter(({ name }) => name === 'agent.unknown_event')).toMatchObject([
    { fields: { agent: 'claude-code', event: 'SomethingNew' } },
  ])
  const { body } = await gateway.call('GET', '/v1/sessions/s1/timeline')
  expect(body.events).toMatchObject([{ event: 'agent_event' }, { event: 'agent_event' }])
})

test.each([
  ['no object', 'PreToolUse', 7, 'gateway.request'],
  ['no tool name', 'PreToolUse', { ...bash('ls'), tool_name: undefined }, 'input.schema'],
  ['arguments that are none', 'PreToolUse', { ...bash('ls'), tool_input: 'rm -rf /' }, 'input.schema'],
])('what cannot be read has no reply: %s', async (_, event, native, code) => {
  const ask = agent(await running())
  expect(await ask(event, native)).toMatchObject({ error: { code } })
})

test('a name that no agent has is refused with those there are', async () => {
  const lines = openLines((await running()).socket ?? '', { hookhelm: 1, agent: 'claude' })
  expect(await lines.next()).toMatchObject({
    id: null,
    error: { code: 'gateway.request', hint: expect.stringContaining('claude-code') },
  })
  await lines.closed
})

test('a request of an agent has the fields of one and no others', async () => {
  const ask = agent(await running())
  expect(await ask('PreToolUse', bash('ls'), { payload: {} })).toMatchObject({
    error: { code: 'gateway.request', at: 'payload' },
  })
  expect(await ask('PreToolUse', bash('ls'), { within_ms: 'soon' })).toMatchObject({
    error: { at: 'within_ms' },
  })
})

test('a file of two megabytes passes, and one of nine does not', async () => {
  const gateway = await running()
  const content = 'x'.repeat(2 * 1_048_576)
  const write = { ...bash(''), tool_name: 'Write', tool_input: { file_path: '/a', content } }
  expect(await agent(gateway)('PreToolUse', write)).toMatchObject({ reply: quiet })
  const lines = openLines(gateway.socket ?? '', AGENT)
  lines.send(`{"id":1,"event":"PreToolUse","native":{"x":"${'y'.repeat(9 * 1_048_576)}"}}`)
  expect(await lines.next()).toMatchObject({ id: null, error: { code: 'input.too_large' } })
})

test('what an agent cannot carry out is blocked where it can block, and told otherwise', async () => {
  const gateway = await running({ functions: { change: () => ({ kind: 'allow', input: 'other words' }) } })
  await gateway.hook({ event: 'user_prompt_submit', handler_type: 'function', config: { name: 'change' } })
  await gateway.hook({ ...script("return { decision: 'block', reason: 'no' }"), event: 'subagent_start' })
  const ask = agent(gateway)
  const prompt = { ...common, hook_event_name: 'UserPromptSubmit', prompt: 'hello' }
  const { reply } = (await ask('UserPromptSubmit', prompt)) as { reply: typeof quiet }
  expect(JSON.parse(reply.stdout)).toMatchObject({
    decision: 'block',
    reason: expect.stringContaining('Claude Code'),
  })
  expect(await ask('SubagentStart', { ...common, agent_id: 'a1', agent_type: 'x' })).toMatchObject({
    reply: quiet,
  })
  expect(gateway.logged).toContainEqual({
    name: 'agent.undelivered',
    fields: expect.objectContaining({ agent: 'claude-code', event: 'subagent_start', what: ['block'] }),
  })
})

test('the events of a session are joined: turns, calls, sub-agents and their depth', async () => {
  const gateway = await running()
  const ask = agent(gateway)
  const without = ({ prompt_id: _, ...rest }: typeof common) => rest
  const base = without(common)
  await ask('SessionStart', { ...base, source: 'startup' })
  await ask('UserPromptSubmit', { ...base, prompt: 'go' })
  await ask('PreToolUse', { ...base, tool_name: 'Agent', tool_input: { prompt: 'sub' }, tool_use_id: 'c1' })
  await ask('SubagentStart', { ...base, agent_id: 'a1', agent_type: 'reviewer' })
  await ask('PreToolUse', { ...base, agent_id: 'a1', tool_name: 'Agent', tool_input: {}, tool_use_id: 'c2' })
  await ask('SubagentStart', { ...base, agent_id: 'a2', agent_type: 'deeper' })
  await ask('PreToolUse', {
    ...base,
    agent_id: 'a2',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_use_id: 'c3',
  })
  await ask('PermissionRequest', {
    ...base,
    agent_id: 'a2',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
  })
  await ask('UserPromptSubmit', { ...base, prompt: 'again' })
  const { body } = await gateway.call('GET', '/v1/sessions/s1/timeline')
  const moments = body.events.map(({ event, moment }: { event: string; moment: object }) => ({
    event,
    ...moment,
  }))
  expect(moments.map(({ event }: { event: string }) => event)).toEqual([
    'session_start',
    'user_prompt_submit',
    'pre_tool_use',
    'subagent_start',
    'pre_tool_use',
    'subagent_start',
    'pre_tool_use',
    'permission_request',
    'user_prompt_submit',
  ])
  const turn = moments[1].turn
  expect(turn).toEqual(expect.any(String))
  expect(moments[8].turn).not.toBe(turn)
  expect(moments[0]).toEqual({ event: 'session_start', agent: 'claude-code' })
  expect(moments[4]).toMatchObject({
    turn,
    lane: 'a1',
    parent: 'claude-code',
    depth: 1,
    tool_call: 'c2',
    tool: 'Agent',
  })
  expect(moments[6]).toMatchObject({ turn, lane: 'a2', parent: 'a1', depth: 2, tool_call: 'c3' })
  expect(moments[7]).toMatchObject({ lane: 'a2', tool_call: 'c3', tool: 'Bash' })
})

const fileHook = (reason: string) =>
  `hooks:\n  - event: pre_tool_use\n    name: guard\n    handler_type: script\n    config: { source: 'function handle() { return { decision: "block", reason: "${reason}" } }' }\n`

test('hook files of the folder an agent works in count, once they are trusted', async () => {
  const gateway = await running()
  const folder = join(gateway.home, 'project')
  const file = join(folder, '.hookhelm', 'hooks.yaml')
  mkdirSync(join(folder, '.hookhelm'), { recursive: true })
  writeFileSync(file, fileHook('the repository says no'))
  const ask = agent(gateway)
  const there = bash('ls', { cwd: folder })
  expect(await ask('PreToolUse', there)).toMatchObject({ reply: quiet })
  const lines = async () => (await gateway.call('GET', '/v1/status')).body.lines
  expect(await lines()).toContainEqual(
    expect.objectContaining({
      name: 'hook files',
      state: 'warn',
      text: expect.stringContaining('hookhelm trust'),
    }),
  )
  trustStore(join(gateway.home, 'trust.json')).trust(file, fileHook('the repository says no'))
  const blocked = await gateway.until(
    () => ask('PreToolUse', there),
    (answer) => JSON.stringify(answer).includes('the repository says no'),
  )
  expect(blocked).toBeDefined()
  const elsewhere = { cwd: join(gateway.home, 'elsewhere') }
  expect(await ask('PreToolUse', bash('ls', { ...elsewhere, session_id: 's2' }))).toMatchObject({
    reply: quiet,
  })
  const { body } = await gateway.call('GET', '/v1/executions?decision=block')
  expect(body.executions[0]).toMatchObject({
    hook_id: null,
    handler_type: 'script',
    metadata: { hook: 'repository/guard' },
  })
})

test('the file of the user counts everywhere, and one that cannot be read closes gates', async () => {
  const gateway = await running()
  writeFileSync(join(gateway.home, 'hooks.yaml'), fileHook('I say no'))
  const ask = agent(gateway)
  expect(JSON.stringify(await ask('PreToolUse', bash('ls')))).toContain('I say no')
  const folder = join(gateway.home, 'broken')
  mkdirSync(join(folder, '.hookhelm'), { recursive: true })
  const file = join(folder, '.hookhelm', 'hooks.yaml')
  writeFileSync(file, 'hooks:\n  - event: pre_tol_use\n')
  trustStore(join(gateway.home, 'trust.json')).trust(file, 'hooks:\n  - event: pre_tol_use\n')
  expect(JSON.stringify(await ask('PreToolUse', bash('ls', { cwd: folder })))).toContain('pre_tol_use')
})

test('4.12 #160 what agents left on disk is recorded as it happened, once, and then removed', async () => {
  const gateway = await running({ functions: { noop: () => undefined } })
  await gateway.hook({ event: 'session_end', handler_type: 'function', config: { name: 'noop' } })
  const spool = join(gateway.home, 'spool')
  mkdirSync(spool, { recursive: true })
  const put = (name: string, value: unknown) =>
    writeFileSync(join(spool, name), typeof value === 'string' ? value : JSON.stringify(value))
  const left = { agent: 'claude-code', at: 1_700_000_000_000, why: 'the gateway does not answer' }
  put('1700000000000-12.json', { ...left, event: 'SessionEnd', native: { ...common, reason: 'other' } })
  put('1700000000001-13.json', { ...left, event: 'PreToolUse', blocked: true, native: bash('rm -rf /') })
  put('1700000000002-14.json', '{"agent":')
  put('1700000000003-15.json', { ...left, agent: 'nobody', event: 'X', native: {} })
  put('overflow', '')
  await gateway.until(
    async () => readdirSync(spool).toSorted(),
    (names) => names.every((name) => name.startsWith('bad-')),
  )
  expect(readdirSync(spool).toSorted()).toEqual(['bad-1700000000002-14.json', 'bad-1700000000003-15.json'])
  const { body } = await gateway.call('GET', '/v1/sessions/s1/timeline')
  expect(body.events).toMatchObject([
    { event: 'session_end', created_at: 1_700_000_000_000 },
    {
      event: 'pre_tool_use',
      created_at: 1_700_000_000_000,
      kind: 'block',
      code: 'gateway.unreachable',
      moment: { tool: 'Bash' },
    },
  ])
  expect(gateway.logged.map(({ name }) => name)).toContain('agent.spool_overflow')
  const seen = await gateway.until(
    () => gateway.call('GET', '/v1/executions?event=session_end'),
    ({ body: found }) => found.executions.length === 1,
  )
  expect(seen.body.executions).toMatchObject([{ decision: 'allow' }])
})

test('a call that was blocked or let through during an outage is recorded with that decision', async () => {
  const gateway = await running()
  const spool = join(gateway.home, 'spool')
  mkdirSync(spool, { recursive: true })
  const left = {
    agent: 'claude-code',
    event: 'PreToolUse',
    why: 'no gateway listens at /x.sock; start it with "hookhelm up"',
    code: 'gateway.unreachable',
  }
  const native = (command: string) => ({ ...bash(command), session_id: 'outage' })
  const files = {
    '1700000000000-1.json': { ...left, at: 1_700_000_000_000, blocked: true, native: native('rm -rf /') },
    '1700000000001-1.json': { ...left, at: 1_700_000_000_001, opened: true, native: native('ls') },
    '1700000000002-1.json': {
      ...left,
      at: 1_700_000_000_002,
      blocked: true,
      native: { ...native(''), tool_input: 7 },
    },
  }
  for (const [name, value] of Object.entries(files)) writeFileSync(join(spool, name), JSON.stringify(value))
  await gateway.until(
    async () => readdirSync(spool),
    (names) => names.length === 0,
  )
  const { body } = await gateway.call('GET', '/v1/sessions/outage/timeline')
  expect(body.events.map(({ kind, event }: { kind: string; event: string }) => [event, kind])).toEqual([
    ['pre_tool_use', 'block'],
    ['pre_tool_use', 'allow'],
    ['agent_event', 'block'],
  ])
  const reasons = await Promise.all(
    body.events.map(
      async ({ event_id }: { event_id: string }) =>
        (await gateway.call('GET', `/v1/events/${event_id}`)).body.decision.reason,
    ),
  )
  expect(reasons[0]).toMatch(/^gateway was down: no gateway listens/)
  expect(reasons[1]).toContain('let through because of --fail-open')
})

test('an agent with hooks over HTTP sends its payload as it is, and needs a token', async () => {
  const gateway = await running()
  const path = '/v1/agents/claude-code/PreToolUse'
  expect(await gateway.call('POST', path, bash('ls'))).toMatchObject({ status: 200, body: {} })
  await gateway.hook(script("return { decision: 'block', reason: 'no' }"))
  await gateway.hook({ ...script("return { decision: 'block', reason: 'not now' }"), event: 'pre_compact' })
  expect((await gateway.call('POST', path, bash('ls'))).body.hookSpecificOutput).toMatchObject({
    permissionDecision: 'deny',
  })
  const compact = { ...common, trigger: 'auto' }
  expect(await gateway.call('POST', '/v1/agents/claude-code/PreCompact', compact)).toMatchObject({
    body: { decision: 'block', reason: 'not now' },
  })
  expect(await gateway.call('POST', path, bash('ls'), { authorization: 'Bearer x' })).toMatchObject({
    status: 401,
  })
  expect(await gateway.call('POST', '/v1/agents/nobody/PreToolUse', bash('ls'))).toMatchObject({
    status: 400,
  })
  expect(await gateway.call('POST', `${path}/more`, bash('ls'))).toMatchObject({ status: 404 })
  expect(await gateway.call('POST', path, 'no json')).toMatchObject({ status: 400 })
})
