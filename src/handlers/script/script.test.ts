import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createHooks, type HookDefinition } from '../../index.ts'
import { recorder } from '../../testing/index.ts'
import { Sandbox, SandboxPool } from './sandbox.ts'
import { scriptHandler } from './script.ts'

const handler = scriptHandler.create({})
afterAll(() => handler.dispose())

function scripted(source: string, options: Partial<HookDefinition> = {}) {
  const seen = recorder()
  const hooks = createHooks({ handlers: [handler], sink: seen.sink, breaker: false })
  hooks.add({ id: 's', event: 'pre_tool_use', handler_type: 'script', config: { source }, ...options })
  const dispatch = (input: Record<string, unknown> = {}) =>
    hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: input }, { session: 'one', tenant: 't' })
  return { hooks, seen, dispatch }
}

describe('a script decides', () => {
  test('GC-80 handle(event) answers allow, block or ask', async () => {
    const source = 'function handle(event) { return { decision: event.tool_input.say, reason: "because" } }'
    const { dispatch } = scripted(source)
    expect(await dispatch({ say: 'allow' })).toMatchObject({ kind: 'allow' })
    expect(await dispatch({ say: 'block' })).toMatchObject({ kind: 'block', reason: 'because', by: 's' })
    expect(await dispatch({ say: 'ask' })).toMatchObject({ kind: 'ask', reason: 'because' })
    expect(await dispatch({ say: 'defer' })).toMatchObject({ kind: 'block' })
  })

  test('a transformer changes the output of a tool in the words of Claude Code', async () => {
    const source = 'function handle() { return { decision: "allow", updatedToolOutput: "[hidden]" } }'
    const { hooks } = scripted(source, { event: 'post_tool_use', transform: true })
    const call = { tool_name: 'Bash', tool_input: {}, tool_response: 'secret' }
    expect(await hooks.dispatch('post_tool_use', call)).toMatchObject({ input: '[hidden]' })
  })

  test.each([
    ['nothing', 'function handle() {}'],
    ['another word', 'function handle() { return { decision: "maybe" } }'],
    ['a text', 'function handle() { return "allow" }'],
    ['a list', 'function handle() { return ["allow"] }'],
    ['no function at all', 'var x = 1'],
    ['a throw', 'function handle() { throw new Error("boom") }'],
    ['a reason that is no text', 'function handle() { return { decision: "block", reason: {} } }'],
  ])('GC-80 %s is no answer and closes the gate', async (what, source) => {
    const code = ['a throw', 'no function at all'].includes(what) ? 'script.error' : 'handler.result'
    expect(await scripted(source).dispatch()).toMatchObject({ kind: 'block', code })
  })

  test('it rewrites the input', async () => {
    const source =
      'function handle(e) { return { decision: "allow", updatedInput: { command: e.tool_input.command + " --dry-run" } } }'
    expect(await scripted(source).dispatch({ command: 'rm x' })).toMatchObject({
      input: { command: 'rm x --dry-run' },
    })
  })

  test('GC-81 it sees both spellings of the event, frozen', async () => {
    const names =
      '["hookEvent","sessionId","tenantId","agentId","toolName","rawInput","eventId","depth","toolInput"]' +
      '.map(function (k) { return typeof event[k] }).join()'
    const { dispatch } = scripted(
      `function handle(given) { return { decision: "block", reason: ${names} + (given === event) + event.hook_event_name } }`,
    )
    expect(await dispatch()).toMatchObject({
      reason: `${'string,'.repeat(7)}number,objecttruePreToolUse`,
    })
    const writes = scripted(
      'function handle(event) { event.toolInput.command = "x"; return { decision: "allow" } }',
    )
    expect(await writes.dispatch({ command: 'ls' })).toMatchObject({ kind: 'block', code: 'script.error' })
  })

  test('GC-81 the spellings of GoClaw are the same values and appear once in keys and JSON', async () => {
    const source = `function handle(event) {
      var same = event.toolInput === event.tool_input && event.toolName === event.tool_name
      var once = Object.keys(event).indexOf('toolInput') < 0 && JSON.stringify(event).split('needle').length === 2
      return { decision: 'block', reason: [same, once, event.sessionId, event.rawInput === ''].join() }
    }`
    expect(await scripted(source).dispatch({ command: 'needle' })).toMatchObject({
      reason: 'true,true,one,true',
    })
  })

  test.each(['event.tool_input', 'event.toolInput'])('GC-81 %s cannot be changed', async (input) => {
    const source = `function handle(event) { ${input}.command = 'x'; return { decision: 'allow' } }`
    expect(await scripted(source).dispatch({ command: 'ls' })).toMatchObject({ code: 'script.error' })
  })

  test('GC-81 a field of the client cannot replace a spelling of GoClaw', async () => {
    const { hooks } = scripted(
      'function handle(event) { return { decision: "block", reason: event.toolName } }',
    )
    const call = { tool_name: 'Bash', tool_input: {}, toolName: 'Read' }
    expect(await hooks.dispatch('pre_tool_use', call)).toMatchObject({ reason: 'Bash' })
  })

  test('GC-82 what it prints is kept, up to 4 KiB', async () => {
    const { dispatch, seen } = scripted(
      'function handle() { for (var i = 0; i < 999; i++) console.log("line", i); return { decision: "allow" } }',
    )
    await dispatch()
    const stdout = String(seen.dispatches[0]?.executions[0]?.facts?.stdout)
    expect(stdout.startsWith('line 0\nline 1\n')).toBe(true)
    expect(stdout.endsWith('... truncated')).toBe(true)
    expect(stdout).toHaveLength(4_096 + '... truncated'.length)
  })

  test('GC-82 more calls than may run at once are all answered', async () => {
    const { dispatch } = scripted(
      'function handle() { var n = 0; while (n < 1e5) n++; return { decision: "block", reason: "done" } }',
    )
    const answers = await Promise.all(Array.from({ length: 30 }, () => dispatch()))
    expect(answers.every(({ reason }) => reason === 'done')).toBe(true)
  })

  test('GC-82 ten run at once, three of one tenant, and the next one starts when one ends', async () => {
    const ends: (() => void)[] = []
    const spied = vi.spyOn(Sandbox.prototype, 'call').mockImplementation(() => {
      const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<Sandbox['call']>>>()
      ends.push(() => resolve({ kind: 'answer', json: '{}', printed: '' }))
      return promise
    })
    const pool = new SandboxPool()
    onTestFinished(async () => {
      spied.mockRestore()
      await pool.dispose()
    })
    const start = (tenant: string) =>
      pool.run({ source: '', event: '{}', timeoutMs: 1_000 }, tenant, new AbortController().signal)
    const all = Array.from({ length: 5 }, () => start('one'))
    await new Promise(setImmediate)
    expect(ends).toHaveLength(3)
    all.push(...Array.from({ length: 10 }, (_, index) => start(`other-${index}`)))
    await new Promise(setImmediate)
    expect(ends).toHaveLength(10)
    ends[9]?.()
    await new Promise(setImmediate)
    expect(ends).toHaveLength(11)
    for (let ended = 0; ended < 15; ended++) {
      ends[ended]?.()
      await new Promise(setImmediate)
    }
    await Promise.all(all)
  })

  test('GC-82 a source of 32 KiB is taken, one byte more is not', () => {
    const source = (bytes: number) => {
      const code = 'function handle() {} //'
      return code + 'x'.repeat(bytes - code.length)
    }
    expect(() => scripted(source(32_768))).not.toThrow()
    expect(() => scripted(source(32_769))).toThrow(expect.objectContaining({ code: 'config.range' }))
  })
})

describe('GC-83 a script reaches nothing', () => {
  test.each([
    'eval',
    'Function',
    'Reflect',
    'Proxy',
    'Symbol',
    'Promise',
    'Map',
    'Set',
    'globalThis',
    'BigInt',
    'Uint8Array',
    'process',
    'require',
    'fetch',
    'setTimeout',
    'WebAssembly',
    'import_meta',
  ])('%s is not there', async (name) => {
    const { dispatch } = scripted(
      `function handle() { return { decision: "block", reason: typeof ${name} } }`,
    )
    expect(await dispatch()).toMatchObject({ reason: 'undefined' })
  })

  test.each([
    '[].constructor.constructor("return 1")()',
    '(function () {}).constructor("return 1")()',
    '({}).constructor.constructor("return 1")()',
    '(async function () {}).constructor("return 1")()',
    '(function* () {}).constructor("return 1")()',
    'this.constructor.constructor("return 1")()',
  ])('%s does not lead out', async (expression) => {
    const { dispatch } = scripted(
      `function handle() { var out = ${expression}; return { decision: "allow", reason: String(out) } }`,
    )
    expect(await dispatch()).toMatchObject({ kind: 'block', code: 'script.error' })
  })

  test('import() gives a promise that nothing ever fulfils', async () => {
    const source =
      'function handle() { var seen = "nothing"; import("node:fs").then(function () { seen = "fs" }, function () {}); return { decision: "block", reason: seen } }'
    expect(await scripted(source).dispatch()).toMatchObject({ reason: 'nothing' })
  })

  test('nothing is left for the next call', async () => {
    const source =
      'var count = 0; function handle() { count++; Array.prototype.leak = 1; return { decision: "block", reason: String(count) + String([].leak) } }'
    const { dispatch } = scripted(source)
    await dispatch()
    expect(await dispatch()).toMatchObject({ reason: '11' })
    expect(
      await scripted(
        'function handle() { return { decision: "block", reason: String([].leak) } }',
      ).dispatch(),
    ).toMatchObject({ reason: 'undefined' })
  })
})

describe('GC-84 a script cannot hang or crash us', () => {
  test.each([
    ['loops for ever', 'function handle() { while (true) {} }', 'script.timeout'],
    [
      'a pattern that backtracks',
      'function handle() { return { decision: /^(a+)+$/.test("a".repeat(40) + "b") ? "allow" : "allow" } }',
      'script.timeout',
    ],
    ['loops while it loads', 'while (true) {}; function handle() {}', 'script.timeout'],
  ])('%s: a timeout when its time is over', async (_, source, code) => {
    expect(await scripted(source, { timeout_ms: 200 }).dispatch()).toMatchObject({ kind: 'block', code })
  })

  test('the kind of failure decides: a loop follows on_timeout, a crash follows on_error', async () => {
    const policies = { on_timeout: 'allow', on_error: 'block', timeout_ms: 200 } as const
    const loop = await scripted('function handle() { while (true) {} }', policies).dispatch()
    expect(loop).toMatchObject({ kind: 'allow', opened: [{ code: 'script.timeout' }] })
    const crash = await scripted('function handle() { null.x }', {
      ...policies,
      timeout_ms: 5_000,
    }).dispatch()
    expect(crash).toMatchObject({ kind: 'block', code: 'script.error' })
  })

  test('allocates for ever: an error when its memory is used up', async () => {
    const source = 'function handle() { var a = ["x"]; while (true) a = a.concat(a) }'
    expect(await scripted(source, { timeout_ms: 60_000 }).dispatch()).toMatchObject({
      kind: 'block',
      code: 'script.error',
      reason: expect.stringContaining('out of memory'),
    })
  })

  test.each([
    ['a line break', 'function handle() { throw new Error("first\\nsecond") }'],
    ['the word at', 'function handle() { throw new Error("first at second") }'],
  ])('the text of an error ends at %s', async (_, source) => {
    const { reason } = await scripted(source).dispatch()
    expect(reason).toContain('Error: first')
    expect(reason).not.toContain('second')
  })

  test('endless recursion is an error with the line, not a stack', async () => {
    const { dispatch } = scripted('\nfunction handle() {\n  return handle()\n}')
    const { reason } = await dispatch()
    expect(reason).toMatch(/stack overflow \(line 3/)
    expect(String(reason).length).toBeLessThan(200)
  })

  test('a deeply nested answer does not bring the sandbox down', async () => {
    const { dispatch } = scripted(
      'function handle() { var a = []; for (var i = 0; i < 1e6; i++) a = [a]; return { decision: "block", reason: "x", updatedInput: a } }',
    )
    expect((await dispatch()).kind).toBe('block')
    expect(
      await scripted('function handle() { return { decision: "block", reason: "alive" } }').dispatch(),
    ).toMatchObject({ reason: 'alive' })
  })

  test('after a hang the next call is answered', async () => {
    const hangs = scripted('function handle() { while (true) {} }', { timeout_ms: 200 })
    await Promise.all(Array.from({ length: 4 }, () => hangs.dispatch()))
    const fine = scripted('function handle() { return { decision: "block", reason: "fine" } }')
    expect(await fine.dispatch()).toMatchObject({ reason: 'fine' })
  })
})

describe('GC-15 a script is checked when it is saved', () => {
  test.each([
    ['no source', undefined, 'config.field'],
    ['an empty source', '  ', 'config.field'],
    ['more than 32 KiB', `function handle() {}//${'x'.repeat(32_768)}`, 'config.range'],
    ['a syntax error', 'function handle() {\n  return {', 'script.compile'],
  ])('%s', (_, source, code) => {
    expect(() => scripted(source as string)).toThrow(expect.objectContaining({ code }))
  })

  test('the line is named', () => {
    expect(() => scripted('function handle() {\n  var 1x\n}')).toThrow(/line 2/)
  })
})
