import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freezeDeep } from '../../src/engine/core/values/freeze.ts'
import { stableJson } from '../../src/engine/core/values/stable-json.ts'
import { catalogue, createHooks, HookError, rewrite } from '../../src/index.ts'

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' } }
const events = Object.keys(catalogue) as (keyof typeof catalogue)[]
const waiting = events.filter((event) => !catalogue[event].sync)
const event = fc.constantFrom(...events)
const unhandled: unknown[] = []
const onUnhandled = (reason: unknown) => void unhandled.push(reason)
beforeAll(() => {
  process.on('unhandledRejection', onUnhandled)
})
afterAll(() => {
  process.off('unhandledRejection', onUnhandled)
})

/** Everything but thenables, which mean something else. */
const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
})

describe('any thrown value is contained', () => {
  test('a gate closes, at once or later', async () => {
    await fc.assert(
      fc.asyncProperty(anything, fc.boolean(), async (thrown, later) => {
        const hooks = createHooks()
        const run = () => {
          throw thrown
        }
        hooks.on('pre_tool_use', later ? async () => run() : run)
        expect(await hooks.dispatch('pre_tool_use', bash)).toMatchObject({
          kind: 'block',
          code: 'handler.error',
        })
      }),
    )
    expect(unhandled).toEqual([])
  })
})

describe('any value as a result', () => {
  test('is read as a decision or follows on_invalid, never more', async () => {
    await fc.assert(
      fc.asyncProperty(anything, fc.boolean(), async (answer, later) => {
        const hooks = createHooks()
        hooks.on('pre_tool_use', (later ? async () => answer : () => answer) as never)
        const decision = await hooks.dispatch('pre_tool_use', bash)
        if (answer === undefined) expect(decision).toEqual({ kind: 'allow' })
        else expect(['allow', 'ask', 'block']).toContain(decision.kind)
      }),
    )
    expect(unhandled).toEqual([])
  })

  test('on every event of the catalogue', async () => {
    const hooks = createHooks()
    let answer: unknown
    for (const name of waiting) hooks.on(name, () => answer as never)
    await fc.assert(
      fc.asyncProperty(event, fc.jsonValue(), fc.jsonValue(), async (name, payload, given) => {
        answer = given
        const code = await hooks.dispatch(name, payload as never).then(
          (decision) => decision.kind,
          (error: unknown) => (error instanceof HookError ? error.code : error),
        )
        expect(['allow', 'ask', 'block', 'input.schema', 'input.too_deep']).toContain(code)
      }),
      { numRuns: 500 },
    )
    await hooks.drain()
    expect(unhandled).toEqual([])
  })

  test('as a rewrite it becomes the input, or closes the gate', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (input) => {
        const hooks = createHooks()
        hooks.on('pre_tool_use', () => rewrite(input as never))
        const decision = await hooks.dispatch('pre_tool_use', bash)
        if (decision.input !== undefined) expect(decision.input).toEqual(input)
        else expect(decision.kind === 'block' || isNothing(input)).toBe(true)
      }),
    )
  })
})

describe('any value as an event', () => {
  test('any JSON payload is dispatched or refused with a code', async () => {
    const hooks = createHooks()
    for (const name of waiting) hooks.on(name, () => {})
    await fc.assert(
      fc.asyncProperty(event, anything, anything, async (name, payload, envelope) => {
        const refused = await hooks.dispatch(name, payload as never, envelope as never).then(
          () => undefined,
          (error: unknown) => error,
        )
        if (refused !== undefined) expect(refused).toBeInstanceOf(HookError)
      }),
      { numRuns: 500 },
    )
    await hooks.drain()
  })

  test('any name is known or refused with a code', async () => {
    const hooks = createHooks()
    await fc.assert(
      fc.asyncProperty(anything, async (name) => {
        const refused = await hooks.dispatch(name as never, {} as never).then(
          () => undefined,
          (error: unknown) => error,
        )
        if (refused !== undefined) expect(refused).toBeInstanceOf(HookError)
      }),
    )
  })

  test('any definition is a hook or refused with a code', () => {
    const fields = fc.constantFrom(
      'id',
      'name',
      'matcher',
      'if_expr',
      'match',
      'timeout_ms',
      'on_error',
      'budget',
    )
    fc.assert(
      fc.property(fc.dictionary(fields, anything), (options) => {
        try {
          createHooks().on('pre_tool_use', options as never, () => {})
        } catch (error) {
          expect(error).toBeInstanceOf(HookError)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('freezing and naming any data', () => {
  test('freezeDeep freezes every part of any JSON value and changes none', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const copy = structuredClone(value)
        freezeDeep(value)
        expect(value).toEqual(copy)
        expect(allFrozen(value)).toBe(true)
      }),
    )
  })

  test('stableJson tells values apart exactly as JSON does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(JSON.parse(stableJson(a))).toEqual(JSON.parse(JSON.stringify(a)))
        const same = JSON.stringify(sortKeys(a)) === JSON.stringify(sortKeys(b))
        expect(stableJson(a) === stableJson(b)).toBe(same)
      }),
    )
  })
})

function isNothing(input: unknown): boolean {
  if (input === null) return true
  return (
    typeof input === 'object' &&
    (Object.keys(input).length === 0 || JSON.stringify(input) === '{"command":"ls"}')
  )
}

function allFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(allFrozen)
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, item]) => [key, sortKeys(item)])
  return { entries: entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)) }
}
