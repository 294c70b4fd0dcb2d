import { describe, expect, test } from 'vitest'
import { createHooks, HookError, type Hooks } from '../../src/index.ts'

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const refuse = (): never => {
  throw new Error('no')
}

function listening(): Hooks & { ran: () => number } {
  const hooks = createHooks()
  let ran = 0
  hooks.on('pre_tool_use', () => void ran++)
  return Object.assign(hooks, { ran: () => ran })
}
const refusalOf = async (answer: Promise<unknown>) => answer.then(String, (error: unknown) => error)

describe('a payload that is no event is refused before any hook sees it', () => {
  test.each<[string, unknown, string]>([
    ['nothing', undefined, ''],
    ['null', null, ''],
    ['a text', 'Bash', ''],
    ['a list', [], 'tool_name'],
    ['no tool name', { tool_input: {} }, 'tool_name'],
    ['a tool name that is no text', { tool_name: 42, tool_input: {} }, 'tool_name'],
    ['a tool name of 5 000 characters', { tool_name: 'x'.repeat(5_000), tool_input: {} }, 'tool_name'],
    ['no input', { tool_name: 'Bash' }, 'tool_input'],
    ['input that is a text', { tool_name: 'Bash', tool_input: 'ls' }, 'tool_input'],
    ['input that is a list', { tool_name: 'Bash', tool_input: [] }, 'tool_input'],
    ['input that is null', { tool_name: 'Bash', tool_input: null }, 'tool_input'],
  ])('%s: input.schema with the path', async (_, payload, at) => {
    const hooks = listening()
    const error = await refusalOf(hooks.dispatch('pre_tool_use', payload as never))
    expect(error).toMatchObject({ code: 'input.schema', at })
    expect(error).toBeInstanceOf(HookError)
    expect(hooks.ran()).toBe(0)
  })

  test('also when no gateway listens', async () => {
    await expect(createHooks().dispatch('pre_tool_use', {} as never)).rejects.toMatchObject({
      code: 'input.schema',
    })
  })

  test('the message names the event and the path, and never the payload', async () => {
    const secret = { tool_name: 'Bash', tool_input: 'sk-secret' }
    const error = await refusalOf(createHooks().dispatch('pre_tool_use', secret as never))
    expect(String(error)).toContain('pre_tool_use: tool_input must be an object')
    expect(JSON.stringify(error)).not.toContain('sk-secret')
  })
})

describe('a payload that cannot be read', () => {
  test.each<[string, () => object]>([
    ['a getter that throws', () => Object.defineProperty({}, 'tool_name', { get: refuse, enumerable: true })],
    [
      'a getter deep inside',
      () => ({ ...bash, tool_input: Object.defineProperty({}, 'x', { get: refuse, enumerable: true }) }),
    ],
    ['a proxy that refuses', () => new Proxy(bash, { get: refuse })],
    ['a proxy that will not be frozen', () => new Proxy({ ...bash }, { preventExtensions: () => false })],
    ['a revoked proxy', revoked],
  ])('%s: input.unreadable', async (_, make) => {
    const hooks = listening()
    const error = await refusalOf(hooks.dispatch('pre_tool_use', make() as never))
    expect(error).toMatchObject({ code: 'input.unreadable' })
    expect(hooks.ran()).toBe(0)
  })

  test('a getter that throws from the third time on never crosses the door uncoded', async () => {
    const matching = createHooks()
    matching.on('pre_tool_use', { matcher: 'Bash' }, () => {})
    await expect(matching.dispatch('pre_tool_use', flaky() as never)).rejects.toMatchObject({
      code: 'input.unreadable',
    })
    const reading = createHooks()
    reading.on('pre_tool_use', ({ tool_name }) => void tool_name)
    expect(await reading.dispatch('pre_tool_use', flaky() as never)).toMatchObject({ code: 'handler.error' })
  })
})

describe('a payload of any depth and form', () => {
  test('10 000 levels: input.too_deep, and no RangeError', async () => {
    for (const deep of [nested(10_000), nestedList(10_000), nested(1_000_000)]) {
      const hooks = listening()
      const error = await refusalOf(hooks.dispatch('pre_tool_use', { ...bash, tool_input: { deep } }))
      expect(error).toMatchObject({ code: 'input.too_deep' })
      expect(hooks.ran()).toBe(0)
    }
  })

  test('a cyclic one goes through, guards and traces included', async () => {
    const hooks = createHooks()
    let ran = 0
    hooks.on('pre_tool_use', { dedup_window_ms: 1_000, if_expr: 'tool_name == "Bash"' }, () => void ran++)
    const make = () => {
      const tool_input: Record<string, unknown> = { command: 'ls' }
      tool_input.self = tool_input
      return { tool_name: 'Bash', tool_input }
    }
    expect((await hooks.dispatch('pre_tool_use', make(), {}, { trace: true })).kind).toBe('allow')
    await hooks.dispatch('pre_tool_use', make())
    expect(ran).toBe(1)
  })

  test('what belongs to the host arrives untouched', async () => {
    class Handle {
      open = true
    }
    const parts = { handle: new Handle(), bytes: Buffer.from('abc'), when: new Date(0), call: () => 1 }
    const hooks = createHooks()
    const seen: unknown[] = []
    hooks.on('pre_tool_use', ({ tool_input }) => {
      seen.push(...Object.values(tool_input))
      parts.handle.open = false
      parts.bytes[0] = 0
    })
    expect((await hooks.dispatch('pre_tool_use', { tool_name: 'x', tool_input: parts })).kind).toBe('allow')
    expect(seen).toEqual(Object.values(parts))
    expect(seen[0]).toBe(parts.handle)
    expect(parts.handle.open).toBe(false)
  })

  test('__proto__ and constructor are only keys', async () => {
    const tool_input = JSON.parse(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    )
    const hooks = listening()
    await hooks.dispatch('pre_tool_use', { tool_name: 'toString', tool_input })
    await hooks.dispatch('pre_tool_use', { tool_name: '__proto__', tool_input })
    expect(hooks.ran()).toBe(2)
    expect({}).not.toHaveProperty('polluted')
  })
})

describe('an envelope or options that are none', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['a text', 'tenant'],
    ['a list', []],
  ])('%s as an envelope: input.schema', async (_, envelope) => {
    const error = await refusalOf(listening().dispatch('pre_tool_use', bash, envelope as never))
    expect(error).toMatchObject({ code: 'input.schema' })
  })

  test('an envelope that cannot be read: input.unreadable', async () => {
    const envelope = Object.defineProperty({}, 'tenant', { get: refuse, enumerable: true })
    const error = await refusalOf(listening().dispatch('pre_tool_use', bash, envelope))
    expect(error).toMatchObject({ code: 'input.unreadable' })
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a text', 'trace'],
    ['a signal that is none', { signal: 'abort' }],
  ])('%s as options never ends in an error without a code', async (_, options) => {
    const answer = await refusalOf(listening().dispatch('pre_tool_use', bash, {}, options as never))
    expect(typeof answer === 'string' || answer instanceof HookError).toBe(true)
  })
})

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function flaky(): object {
  let reads = 0
  return Object.defineProperty({ tool_input: {} }, 'tool_name', {
    enumerable: true,
    get: () => (++reads > 2 ? refuse() : 'Bash'),
  })
}

function nested(levels: number): object {
  let value: object = {}
  for (let i = 0; i < levels; i++) value = { inner: value }
  return value
}

function nestedList(levels: number): unknown[] {
  let value: unknown[] = []
  for (let i = 0; i < levels; i++) value = [value]
  return value
}
