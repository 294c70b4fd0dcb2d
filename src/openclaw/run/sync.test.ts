import { describe, expect, test } from 'vitest'
import { boom, fail, hostWith, on } from '../../../test/openclaw/plugins.fixture.ts'

const original = { role: 'toolResult', text: 'original' }
const changed = { role: 'toolResult', text: 'changed' }
const names = ['tool_result_persist', 'before_message_write'] as const

function run(name: (typeof names)[number], host: ReturnType<typeof hostWith>): unknown {
  const event = { message: original }
  return name === 'tool_result_persist'
    ? host.runner.runToolResultPersist(event, {})
    : host.runner.runBeforeMessageWrite(event, {})
}

describe.each(names)('%s', (name) => {
  const unchanged = name === 'tool_result_persist' ? { message: original } : undefined
  const promiseLine =
    `[hooks] ${name} handler from plugin returned a Promise; ` +
    'this hook is synchronous and the result was ignored.'

  test('OC-19 a promise is ignored with a warning, and the next handler is asked', () => {
    const host = hostWith([on(name, async () => ({ block: true })), on(name, () => ({ message: changed }))])
    expect(run(name, host)).toEqual({ message: changed })
    expect(host.log).toEqual([`warn ${promiseLine}`])
  })

  test('OC-19 a promise that is ignored may reject without harm', async () => {
    const unheard: unknown[] = []
    const hear = (reason: unknown) => unheard.push(reason)
    process.on('unhandledRejection', hear)
    run(name, hostWith([on(name, () => Promise.reject(new Error('late')))]))
    await new Promise((done) => setImmediate(done))
    process.off('unhandledRejection', hear)
    expect(unheard).toEqual([])
  })

  test('OC-19 a closed hook throws at a promise', () => {
    const options = { failurePolicyByHook: { [name]: 'fail-closed' } } as const
    const host = hostWith([on(name, async () => ({}))], options)
    expect(() => run(name, host)).toThrow(`[hooks] ${name} handler from plugin failed: Error: ${promiseLine}`)
  })

  test('OC-11 a failure is logged as it says itself, unredacted', () => {
    const host = hostWith([on(name, () => fail('z token=abc'))])
    expect(run(name, host)).toEqual(unchanged)
    expect(host.log).toEqual([`error [hooks] ${name} handler from plugin failed: Error: z token=abc`])
  })

  test('OC-4 a closed hook throws a failure with its cause', () => {
    const host = hostWith([on(name, boom)], { catchErrors: false })
    expect(() => run(name, host)).toThrow(
      expect.objectContaining({
        message: `[hooks] ${name} handler from plugin failed: Error: boom`,
        cause: expect.objectContaining({ message: 'boom' }),
      }),
    )
  })

  test('OC-44 OC-45 each handler sees the message the one before it made, in a fresh event', () => {
    const seen: unknown[] = []
    const event = { message: original, agentId: 'main' }
    const hooks = [
      on(name, () => ({ message: changed }), { priority: 1 }),
      on(name, (given) => void seen.push(given)),
    ]
    const { runner } = hostWith(hooks)
    if (name === 'tool_result_persist') runner.runToolResultPersist(event, {})
    else runner.runBeforeMessageWrite(event, {})
    expect(seen).toEqual([{ message: changed, agentId: 'main' }])
    expect(event.message).toBe(original)
  })
})

test('OC-66 tool_result_persist answers with the message even when nobody changed it', () => {
  const host = hostWith([on('tool_result_persist', () => undefined)])
  expect(run('tool_result_persist', host)).toEqual({ message: original })
})

test('OC-66 a handler of tool_result_persist that throws is passed over', () => {
  const host = hostWith([
    on('tool_result_persist', boom, { priority: 1 }),
    on('tool_result_persist', () => ({ message: changed })),
  ])
  expect(run('tool_result_persist', host)).toEqual({ message: changed })
})

test('OC-67 before_message_write answers nothing when the message is the same one', () => {
  const host = hostWith([on('before_message_write', () => ({ message: original }))])
  expect(run('before_message_write', host)).toBeUndefined()
})

test('OC-67 a block ends before_message_write, without a message', () => {
  let isCalled = false
  const host = hostWith([
    on('before_message_write', () => ({ message: changed }), { priority: 2 }),
    on('before_message_write', () => ({ block: true, message: changed }), { priority: 1 }),
    on('before_message_write', () => {
      isCalled = true
    }),
  ])
  expect(run('before_message_write', host)).toStrictEqual({ block: true })
  expect(isCalled).toBe(false)
})

test('OC-44 a block means nothing to tool_result_persist', () => {
  const host = hostWith([on('tool_result_persist', () => ({ block: true, message: changed }))])
  expect(run('tool_result_persist', host)).toEqual({ message: changed })
})
