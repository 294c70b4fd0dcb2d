import { createRegistry } from '../src/engine/dispatch/hooks.ts'
import { compileMatcher } from '../src/engine/match/matcher.ts'
import { type Figure, ratio } from './figure.ts'
import { race } from './measure.ts'

export async function matchFigures(): Promise<Figure[]> {
  const registry = createRegistry({})
  for (let i = 0; i < 1_000; i++) {
    registry.add({ event: 'pre_tool_use', handler_type: 'function', matcher: `^tool_${i}$` }, () => undefined)
  }
  const eventHooks = registry.hooksOf('pre_tool_use')
  // In turns, so that neither side can live off the last answer.
  const names = ['tool_1', 'tool_2', 'tool_3', 'tool_4']
  const map = new Map(names.map((name) => [name, eventHooks.resolveName(name)]))
  let turn = 0
  const next = () => names[turn++ & 3] ?? ''
  // Kept, so that the compiler cannot leave the look-up out.
  let kept: unknown
  const t = await race({
    map: () => {
      kept = map.get(next())
    },
    ours: () => {
      kept = eventHooks.resolveName(next())
    },
  })
  if (kept === undefined) throw new Error('nothing was looked up')
  return [
    ratio('which hooks a tool name concerns, known name, to Map.get', t.ours, t.map, 1.5),
    catastrophe(),
  ]
}

/** The classic pattern that hangs a backtracking engine, on 100 KB. */
function catastrophe(): Figure {
  const subject = `${'a'.repeat(100_000)}!`
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const matcher = compileMatcher({ matcher: '(a+)+$' }, 'pre_tool_use')
    const before = performance.now()
    matcher.byName(subject)
    times.push(performance.now() - before)
  }
  return {
    name: '(a+)+$ on 100 KB, worst of 5',
    value: Math.max(...times),
    unit: 'ms',
    goal: 50,
    better: 'at most',
  }
}
