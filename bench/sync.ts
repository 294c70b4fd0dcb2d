import { createHooks } from '../src/index.ts'
import { type Figure, ratio } from './figure.ts'
import { bytesPerCall, race } from './measure.ts'

interface Line {
  readonly toolName?: string
}

let seen = 0
function add(length: number): undefined {
  seen += length
}

/** Ten different functions, as ten hooks are, each with a little to do so that no compiler leaves it out. */
const handlers: readonly ((line: Line) => undefined)[] = [
  (line) => add(line.toolName?.length ?? 1),
  (line) => add(line.toolName?.length ?? 2),
  (line) => add(line.toolName?.length ?? 3),
  (line) => add(line.toolName?.length ?? 4),
  (line) => add(line.toolName?.length ?? 5),
  (line) => add(line.toolName?.length ?? 6),
  (line) => add(line.toolName?.length ?? 7),
  (line) => add(line.toolName?.length ?? 8),
  (line) => add(line.toolName?.length ?? 9),
  (line) => add(line.toolName?.length ?? 10),
]

/** Synchronous events: hosts send every line of a transcript through them. */
export async function syncFigures(): Promise<Figure[]> {
  const payload = { message: { role: 'tool', content: 'text' }, toolName: 'Bash' }
  const hooks = createHooks()
  const matching = createHooks()
  for (const handler of handlers) {
    hooks.on('tool_result_persist', handler)
    matching.on('tool_result_persist', { matcher: '^Bash$' }, handler)
  }
  const loop = () => {
    for (const run of handlers) run(payload)
  }
  const ours = () => hooks.dispatchSync('tool_result_persist', payload)
  const matched = () => matching.dispatchSync('tool_result_persist', payload)
  const t = await race({ loop, ours, matched })
  if (seen === 0) throw new Error('no handler ran')
  return [
    ratio('10 synchronous hooks, to a bare loop', t.ours, t.loop, 3),
    ratio('10 synchronous hooks with matchers, to a bare loop', t.matched, t.loop, 3),
    {
      name: 'allocated per synchronous dispatch',
      value: bytesPerCall(ours),
      unit: 'B',
      goal: 1,
      better: 'at most',
      detail: `bare loop ${bytesPerCall(loop).toFixed(1)} B`,
    },
  ]
}
