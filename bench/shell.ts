import { analyzeShell } from '../src/shell/index.ts'
import { hostileLines } from '../test/shell/hostile-lines.ts'
import type { Figure } from './figure.ts'
import { race } from './measure.ts'
import { scoreboardFigures } from './shell-scoreboard.ts'

const typical =
  'cd packages/app && npm run build 2>&1 | tee build.log | grep -E "error|warn" > out.txt; git status'
const context = { cwd: '/app', home: '/home/u' }

export async function shellFigures(): Promise<Figure[]> {
  const { typicalLine } = await race({ typicalLine: () => analyzeShell(typical, context) })
  return [
    {
      name: 'what a typical shell line does',
      value: typicalLine / 1e6,
      unit: 'ms',
      goal: 0.15,
      better: 'at most',
    },
    slowestHostile(),
    ...(await scoreboardFigures()),
  ]
}

/** The best of several rounds for each line, and of these the slowest line. */
function slowestHostile(): Figure {
  const times = Object.entries(hostileLines).map(([name, line]) => {
    let best = Number.POSITIVE_INFINITY
    for (let round = 0; round < 7; round++) {
      const before = performance.now()
      analyzeShell(line, context)
      best = Math.min(best, performance.now() - before)
    }
    return { name, best }
  })
  const [slowest = { name: '', best: 0 }] = times.toSorted((a, b) => b.best - a.best)
  const name = `the slowest of ${times.length} hostile shell lines of 64 KB`
  return { name, value: slowest.best, unit: 'ms', goal: 50, better: 'at most', detail: slowest.name }
}
