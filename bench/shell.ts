import { analyzeShell } from '../src/shell/index.ts'
import { hostileLines } from '../test/shell/hostile-lines.ts'
import { readCaseGroups } from '../test/shell/read-cases.ts'
import type { Figure } from './figure.ts'
import { race } from './measure.ts'

const typical =
  'cd packages/app && npm run build 2>&1 | tee build.log | grep -E "error|warn" > out.txt; git status'
const context = { cwd: '/app', home: '/home/u', readFile: readCorpusFile }

/** Whether a guard stops a line: it blocks it, or asks because it cannot know. */
type Guard = (line: string) => boolean

/** How people guard against one deletion, and how we do. */
const guards: Readonly<Record<string, Guard>> = {
  'effects, opaque asks': (line) => {
    const { commands, opaque } = analyzeShell(line, context)
    return opaque.length > 0 || commands.some(isDeletion)
  },
  'effects, opaque allows': (line) => analyzeShell(line, context).commands.some(isDeletion),
  'a regular expression': (line) => /\brm\s+-rf\b/.test(line),
  'eight deny rules': (line) => denyRules.some((rule) => rule.test(line)),
}

/** Eight rules as people write them for coding agents. */
const denyRules: readonly RegExp[] = [
  /^\s*(sudo\s+)?rm\s+(-\w*r\w*f|-\w*f\w*r|-r\s+-f|-f\s+-r|--recursive\s+--force)/,
  /[;&|]\s*(sudo\s+)?rm\s+-\w*[rf]/,
  /\b(ba|z|da)?sh\s+-\w*c\s+['"]?.*\brm\b/,
  /(curl|wget)[^|]*\|\s*(sudo\s+)?(ba|z)?sh\b/,
  /\bxargs\s+(-\S+\s+)*(sudo\s+)?rm\b/,
  /\bfind\b.*(-delete|-exec\s+rm)\b/,
  /\beval\b/,
  /base64\s+(-d|--decode)[^|]*\|\s*(ba|z)?sh/,
]

function isDeletion({
  program,
  flags,
}: {
  readonly program: string
  readonly flags: readonly string[]
}): boolean {
  return program === 'rm' && flags.includes('r') && flags.includes('f')
}

function readCorpusFile(path: string): string | undefined {
  return path === '/app/script.sh'
    ? 'rm -rf x\n'
    : path.includes('venv') || path.includes('nvm')
      ? 'export A=1\n'
      : undefined
}

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
    ...scoreboard(),
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

/** Lines of the corpus that a guard lets through although it must not, and that it stops although it must not. */
function scoreboard(): Figure[] {
  const linesOf = (...names: readonly Parameters<typeof readCaseGroups>[0][]) =>
    names.flatMap((name) => readCaseGroups(name).flatMap(({ lines }) => lines))
  const deletions = linesOf('deletions')
  const hidden = readCaseGroups('hidden').flatMap(({ lines }) => lines)
  // A deletion that developers type is stopped by every guard, so it is no false alarm.
  const harmless = linesOf('harmless', 'ordinary').filter((line) => !/^rm -rf/.test(line))
  return Object.entries(guards).flatMap(([guard, stops], index): Figure[] => {
    const missed = deletions.filter((line) => !stops(line)).length
    const unseen = hidden.filter((line) => !stops(line)).length
    const stopped = harmless.filter(stops).length
    const isOurs = index === 0
    const detail = `of ${deletions.length} spellings of one deletion; ${unseen} of ${hidden.length} hidden lines`
    return [
      {
        name: `${guard}: bypasses`,
        value: missed,
        unit: 'rows',
        goal: isOurs ? 0 : deletions.length,
        better: 'at most',
        detail,
      },
      {
        name: `${guard}: false alarms`,
        value: stopped,
        unit: 'rows',
        goal: isOurs ? 0 : harmless.length,
        better: 'at most',
        detail: `of ${harmless.length} harmless lines`,
      },
    ]
  })
}
