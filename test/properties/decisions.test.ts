import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createHooks, type HookDefinition, stricter } from '../../src/index.ts'
import { fakeClock } from '../../src/testing/index.ts'

type Kind = 'allow' | 'ask' | 'block'
interface Step {
  readonly kind: Kind | 'nothing'
  /** How many turns of the event loop the answer takes; 0 is at once. */
  readonly turns: number
  readonly priority: number
  readonly locked: boolean
  readonly context: string
}

const kind = fc.constantFrom<Kind>('allow', 'ask', 'block')
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('allow', 'ask', 'block', 'nothing'),
  turns: fc.nat({ max: 3 }),
  priority: fc.integer({ min: -2, max: 2 }),
  locked: fc.boolean(),
  context: fc.string({ maxLength: 3 }),
})
const bash = { tool_name: 'Bash', tool_input: {} }

function build(steps: readonly Step[]) {
  const hooks = createHooks()
  const ran: string[] = []
  steps.forEach(({ kind, turns, priority, locked, context }, i) => {
    const id = `h${i}`
    const answer = () => {
      ran.push(id)
      if (kind === 'nothing') return undefined
      return kind === 'block' ? { kind, reason: id } : { kind, reason: id, context }
    }
    const later = async () => {
      for (let turn = 1; turn < turns; turn++) await null
      return answer()
    }
    hooks.on('pre_tool_use', { id, priority, locked }, turns === 0 ? answer : later)
  })
  return { hooks, ran }
}

const rank = (hook: HookDefinition, steps: readonly Step[]) => steps[Number(hook.id?.slice(1))] as Step
const inOrder = (steps: readonly Step[]) =>
  steps
    .map((step, i) => ({ step, id: `h${i}` }))
    .sort((a, b) => Number(b.step.locked) - Number(a.step.locked) || b.step.priority - a.step.priority)

/** What the engine promises, in the plainest words. */
function expected(steps: readonly Step[]) {
  const ran: string[] = []
  const context: string[] = []
  let decided: { kind: Kind; by?: string } = { kind: 'allow' }
  for (const { step, id } of inOrder(steps)) {
    ran.push(id)
    if (step.kind === 'nothing') continue
    if (step.kind !== 'block' && step.context) context.push(step.context)
    decided = stricter(decided, { kind: step.kind, by: id })
    if (step.kind === 'block') break
  }
  return { ran, decided, context: decided.kind === 'block' ? [] : context }
}

describe('any interleaving of results gives the fold in order', () => {
  test('for one dispatch', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const { hooks, ran } = build(steps)
        const decision = await hooks.dispatch('pre_tool_use', bash)
        const promised = expected(steps)
        expect(ran).toEqual(promised.ran)
        expect(decision.kind).toBe(promised.decided.kind)
        expect(decision.by).toBe(promised.decided.kind === 'allow' ? undefined : promised.decided.by)
        expect(decision.context ?? []).toEqual(promised.context)
        expect(hooks.list('pre_tool_use').map((hook) => rank(hook, steps))).toEqual(
          inOrder(steps).map(({ step }) => step),
        )
      }),
    )
  })

  test('for many dispatches at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 5 }),
        fc.integer({ min: 2, max: 10 }),
        async (steps, n) => {
          const { hooks } = build(steps)
          const answers = Array.from({ length: n }, () => hooks.dispatch('pre_tool_use', bash))
          const { kind } = expected(steps).decided
          for (const decision of await Promise.all(answers)) expect(decision.kind).toBe(kind)
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('stricter', () => {
  const decision = fc.record({ kind, id: fc.nat() })

  test('is associative', () => {
    fc.assert(
      fc.property(decision, decision, decision, (a, b, c) => {
        expect(stricter(stricter(a, b), c)).toBe(stricter(a, stricter(b, c)))
      }),
    )
  })

  test('never answers something less strict than either, and keeps the first of equals', () => {
    const weight = { allow: 0, ask: 1, block: 2 }
    fc.assert(
      fc.property(decision, decision, (a, b) => {
        const result = stricter(a, b)
        expect(weight[result.kind]).toBe(Math.max(weight[a.kind], weight[b.kind]))
        if (a.kind === b.kind) expect(result).toBe(a)
      }),
    )
  })
})

describe('among hooks that return no patch', () => {
  const weight = { allow: 0, ask: 1, block: 2 }

  test('removing one never makes the answer stricter', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), fc.nat(), async (steps, pick) => {
        const all = await build(steps).hooks.dispatch('pre_tool_use', bash)
        const without = steps.filter((_, i) => i !== pick % steps.length)
        const fewer = await build(without).hooks.dispatch('pre_tool_use', bash)
        expect(weight[fewer.kind]).toBeLessThanOrEqual(weight[all.kind])
      }),
    )
  })

  test('their order changes who decides, never what is decided', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
        const forwards = await build(steps).hooks.dispatch('pre_tool_use', bash)
        const backwards = await build(steps.toReversed()).hooks.dispatch('pre_tool_use', bash)
        expect(backwards.kind).toBe(forwards.kind)
      }),
    )
  })
})

test('a deadline never fires early and never more than 50 ms late', async () => {
  const moment = fc.record({ start: fc.nat({ max: 400 }), timeout: fc.integer({ min: 1, max: 500 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(moment, { minLength: 1, maxLength: 6 }), async (moments) => {
      const clock = fakeClock()
      const waits: number[] = []
      const due = moments.toSorted((a, b) => a.start - b.start)
      for (const { start, timeout } of due) {
        await clock.advance(Math.max(0, start - clock.elapsed()))
        const hooks = createHooks({ clock })
        hooks.on('pre_tool_use', { timeout_ms: timeout }, () => new Promise<never>(() => {}))
        const begun = clock.elapsed()
        void hooks.dispatch('pre_tool_use', bash).then(() => waits.push(clock.elapsed() - begun - timeout))
      }
      await clock.advance(1_000)
      expect(waits).toHaveLength(moments.length)
      for (const late of waits) {
        expect(late).toBeGreaterThanOrEqual(0)
        expect(late).toBeLessThanOrEqual(50)
      }
    }),
    { numRuns: 40 },
  )
})
