import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { admin, guard, openTestMethods, type TestMethods } from '../../test/gateway/test-methods.fixture.ts'
import { type BadReceiver, badReceiver } from '../testing/bad-receiver.ts'

let methods: TestMethods
let receiver: BadReceiver
beforeAll(async () => {
  methods = await openTestMethods()
  receiver = await badReceiver()
})
afterAll(async () => {
  await receiver.close()
  await methods.close()
})

const operator = { ...admin, role: 'operator' } as const
const exec = { toolName: 'exec', toolInput: { cmd: 'ls' } }
const cat = { event: 'pre_tool_use', handler_type: 'command', scope: 'tenant', config: { command: 'cat' } }
const script = (source: string, more: object = {}) => ({
  event: 'pre_tool_use',
  handler_type: 'script',
  scope: 'tenant',
  config: { source },
  ...more,
})

async function tried(config: object, sampleEvent: object = exec, caller = admin) {
  return (await methods.call('hooks.test', { config, sampleEvent }, caller)).result
}

describe('hooks.test', () => {
  test('GC-117 the example of the text answers allow', async () => {
    const result = await tried(cat)
    expect(result).toMatchObject({ decision: 'allow', matched: true, exitCode: 0, stderr: '' })
    expect(JSON.parse(result.stdout)).toMatchObject({ tool_name: 'exec', tool_input: { cmd: 'ls' } })
    expect(result.durationMs).toBeGreaterThanOrEqual(0)
  })

  test('GC-117 a command shows what it printed, line by line and without secrets', async () => {
    const command = 'echo one; echo token=abcdef1234567890 >&2; echo two >&2; exit 2'
    expect(await tried({ ...cat, config: { command } })).toMatchObject({
      decision: 'block',
      stdout: 'one',
      stderr: 'token=[REDACTED]\ntwo',
      exitCode: 2,
    })
  })

  test('GC-117 the matcher decides first, then the handler', async () => {
    const source = 'function handle() { throw new Error("ran") }'
    const missed = await tried(script(source, { matcher: '^shell$', if_expr: 'tool_name == "exec"' }))
    expect(missed).toMatchObject({
      decision: 'allow',
      matched: false,
      matcherMatched: false,
      celResult: true,
      reason: 'matcher ^shell$ does not match "exec"',
    })
    const matched = await tried(script(source, { matcher: '^exec$', if_expr: 'size(tool_input.cmd) > 1' }))
    expect(matched).toMatchObject({
      decision: 'error',
      matched: true,
      matcherMatched: true,
      celResult: true,
      terms: [{ source: 'size(tool_input.cmd) > 1', holds: true, value: '2' }],
      code: 'script.error',
      error: expect.stringContaining('ran'),
      hint: expect.any(String),
    })
  })

  test('GC-117 a webhook shows its status, its reason and what it would change', async () => {
    const at = (path: string) => ({ ...guard, config: { url: receiver.origin + path } })
    expect(await tried(at('/block'))).toMatchObject({
      decision: 'block',
      statusCode: 200,
      reason: 'the receiver says no',
    })
    expect(await tried(at('/rewrite'))).toMatchObject({ decision: 'allow', updatedInput: { command: 'ls' } })
  })

  test('GC-117 the trace says what happened', async () => {
    const { trace } = await tried(script('function handle() { return { decision: "block", reason: "no" } }'))
    expect(trace).toMatchObject({
      event: 'pre_tool_use',
      subject: 'exec',
      hooks: [{ matched: true, executions: [{ decision: 'block', reason: 'no' }] }],
    })
  })

  test('a hook that is off, in shadow or on an event nobody waits for is tried all the same', async () => {
    const block = 'function handle() { return { decision: "block", reason: "no" } }'
    expect(await tried(script(block, { enabled: false }))).toMatchObject({ decision: 'block' })
    expect(await tried(script(block, { shadow: true }))).toMatchObject({ decision: 'block' })
    const printed = 'function handle(event) { console.log(event.hookEvent); return { decision: "allow" } }'
    expect(await tried(script(printed, { event: 'post_tool_use' }))).toMatchObject({
      decision: 'allow',
      stdout: 'post_tool_use',
    })
  })

  test('GC-117 a prompt is given as rawInput, an agent by name', async () => {
    const source = 'function handle(event) { return { decision: "block", reason: event.rawInput } }'
    const hook = script(source, { event: 'user_prompt_submit', scope: 'agent', agent_ids: ['scribe'] })
    const spoken = { rawInput: 'hello', agentId: 'scribe' }
    expect(await tried(hook, spoken)).toMatchObject({ decision: 'block', reason: 'hello' })
    expect(await tried(hook, { ...spoken, agentId: 'other' })).toMatchObject({ matched: false })
  })

  test('GC-117 what could not be saved cannot be tried', async () => {
    await expect(tried({ ...cat, scope: 'global' })).rejects.toMatchObject({ code: 'auth.scope' })
    await expect(tried({ ...cat, matcher: '(' })).rejects.toMatchObject({ code: 'match.syntax' })
    const { scope: _, ...rest } = cat
    await expect(tried(rest)).rejects.toMatchObject({
      message: 'handler_type, event, and scope are required',
    })
    await expect(methods.call('hooks.test', {}, operator)).rejects.toMatchObject({ code: 'gateway.request' })
    await expect(
      methods.call('hooks.test', { config: cat }, admin, { edition: 'standard' }),
    ).rejects.toMatchObject({ code: 'handler.not_in_edition' })
  })

  test('GC-109 GC-117 an operator tries scripts, and nothing else that is not stored', async () => {
    const allow = 'function handle() { return { decision: "allow" } }'
    expect(await tried(script(allow), exec, operator)).toMatchObject({ decision: 'allow' })
    for (const config of [cat, guard, { ...guard, handler_type: 'prompt', config: { prompt_template: 'x' } }])
      await expect(tried(config, exec, operator)).rejects.toMatchObject({ code: 'auth.scope' })
  })

  test('4.10 #150 a dry run writes nothing: every table has the rows it had', async () => {
    const guarded = { cooldown_ms: 60_000, dedup_window_ms: 60_000, budget: { name: 'b', limit: 1 } }
    const before = counts()
    for (const hook of [cat, { ...cat, ...guarded }, { ...cat, event: 'session_end' }]) {
      await tried(hook)
      await tried(hook)
    }
    await tried({ ...cat, config: { command: 'exit 1' } })
    expect(counts()).toEqual(before)
    expect(Object.keys(before)).toEqual(
      expect.arrayContaining([
        'hook_executions',
        'deliveries',
        'tenant_hook_budget',
        'guard_state',
        'events',
      ]),
    )
  })
})

/** How many rows each table has, read past the store. */
function counts(): Record<string, number> {
  const database = new DatabaseSync(methods.file, { readOnly: true })
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
  const entries = tables.map(({ name }) => {
    const [row] = database.prepare(`select count(*) as rows from "${String(name)}"`).all()
    return [String(name), Number(row?.rows)]
  })
  database.close()
  return Object.fromEntries(entries)
}
