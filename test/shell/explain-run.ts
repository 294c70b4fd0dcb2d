import { join } from 'node:path'
import type { ShellArgument, ShellEffects } from '../../src/shell/index.ts'
import type { LineRun, RecordedRun } from './run-line.ts'

/** What happened although the effects neither list it nor mark it as opaque. */
export function findMisses({ cwd, runs, changed }: LineRun, effects: ShellEffects): string[] {
  const runsUnknownCode = effects.opaque.some(({ reason }) => reason !== 'path')
  const missedRuns = runs
    .filter(
      (run) =>
        !runsUnknownCode &&
        !effects.commands.some(
          (command) =>
            command.program === run.program && isSameCwd(command.cwd, run) && fits(command.args, run.args),
        ),
    )
    .map(
      ({ program, args, cwd: folder }) =>
        `ran ${program} ${JSON.stringify(args)} in ${folder.slice(cwd.length) || '.'}`,
    )
  const touched = [...effects.writes, ...effects.deletes].flatMap(({ path, target = path }) => [path, target])
  const missedFiles = changed
    .filter(
      (path) => effects.opaque.length === 0 && !touched.some((file) => coversPath(file, join(cwd, path))),
    )
    .map((path) => `changed ${path}`)
  return [...missedRuns, ...missedFiles]
}

function isSameCwd(expected: string | undefined, { cwd }: RecordedRun): boolean {
  return expected === undefined || expected.replace(/(.)\/$/, '$1') === cwd
}

/** Whether the arguments can become what the program received. */
function fits(expected: readonly ShellArgument[], actual: readonly string[]): boolean {
  const [first, ...rest] = expected
  if (!first) return actual.length === 0
  if (first.certainty === 'exact') return actual[0] === first.text && fits(rest, actual.slice(1))
  const accepts = (text: string) => first.certainty === 'unknown' || coversPath(first.text, text)
  if (!first.many) return actual[0] !== undefined && accepts(actual[0]) && fits(rest, actual.slice(1))
  for (let count = 0; count <= actual.length; count++) {
    if (count > 0 && !accepts(actual[count - 1] ?? '')) return false
    if (fits(rest, actual.slice(count))) return true
  }
  return false
}

/** Whether a path fits a pattern: `*` within a folder, `**` across folders. */
function coversPath(pattern: string, path: string): boolean {
  if (pattern === path) return true
  const source = pattern.replace(/\/\*\*\/|\/\*\*$|\*+|\?|\[[^\]]+\]|[\s\S]/g, (part) => {
    if (part === '/**/') return '/(.*/)?'
    if (part === '/**') return '(/.*)?'
    if (part.startsWith('*')) return '[^/]*'
    if (part === '?') return '[^/]'
    return part.length > 1 ? part : part.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')
  })
  return new RegExp(`^${source}$`, 's').test(path)
}
