import { type ShellContext, type ShellEffects, temporaryFolder } from '../engine/core/shell-effects.ts'
import { commandsInCode } from './commands/command-text.ts'
import { createEffectRecorder, ShellBudgetExceeded } from './evaluate/effect-recorder.ts'
import { findControlCharacters } from './evaluate/hidden-characters.ts'
import { followLinks } from './evaluate/resolve-path.ts'
import { runScript } from './evaluate/run-script.ts'
import { runWords } from './evaluate/run-simple.ts'
import { withFileContents } from './evaluate/script-content.ts'
import type { ShellFrame, ShellRun } from './evaluate/shell-run.ts'
import { runExitTraps } from './evaluate/shell-run.ts'
import { eitherWay, SESSION_ARGUMENTS, type ShellState } from './evaluate/shell-state.ts'
import { describeText, knownText, textAsCode, unknownText } from './expand/shell-text.ts'
import { parseShell } from './parse/parse-shell.ts'
import { runInstalledFiles } from './special/installed-code.ts'

const MAX_LENGTH = 262_144
const MAX_DEPTH = 16

/**
 * What a shell line does: the commands that it runs, the files that it reads, writes and deletes, the hosts that it contacts,
 * and what cannot be known. It executes nothing, and it never throws.
 *
 * ```ts
 * const { commands, deletes } = analyzeShell('X="rm -rf"; $X build', { cwd: '/app' })
 * commands[0] // { program: 'rm', flags: ['f', 'r'], args: [{ text: '-rf' }, { text: 'build' }], … }
 * deletes[0] // { path: '/app/build', … }
 * ```
 */
export function analyzeShell(line: string, context: ShellContext = {}): ShellEffects {
  const record = createEffectRecorder()
  const run = createRun(context, record)
  const dialect = context.shell ?? 'bash'
  const hidden = findControlCharacters(line)
  if (hidden !== undefined) record.addOpaque('characters', hidden, 0)
  if (line.length > MAX_LENGTH) {
    record.addOpaque('budget', `the line has ${line.length} characters, more than ${MAX_LENGTH}`, 0)
    return record.effects()
  }
  try {
    const { script, problem } = parseShell(line, dialect)
    if (problem) record.addOpaque(problem.reason, problem.message, problem.at)
    const frame: ShellFrame = { run, dialect, via: [], depth: 0 }
    const { ok, fail } = run.runScript(script, [firstState(context)], frame)
    const ended = [...ok, ...fail, ...run.exits]
    runExitTraps(run, 0, ended)
    runInstalledFiles(ended, frame)
  } catch (error) {
    if (!(error instanceof ShellBudgetExceeded || error instanceof RangeError)) throw error
    const why = error instanceof ShellBudgetExceeded ? error.message : 'the line is nested too deeply'
    record.addOpaque('budget', why, 0)
  }
  return withFolders(followLinks(record.effects(), run), context)
}

/** The effects with the folders that a hook may mean, wherever they are. */
function withFolders(effects: ShellEffects, { home, resolveLink, guarded }: ShellContext): ShellEffects {
  const changed = [...effects.writes, ...effects.deletes].some(({ path, target = path }) =>
    [path, target].some((each) => temporaryFolder.test(each)),
  )
  return {
    ...effects,
    ...(home === undefined ? {} : { homes: [...new Set([home, resolveLink?.(home) ?? home])] }),
    ...(changed && guarded ? { guarded: guarded() } : {}),
  }
}

function firstState({ cwd = '.', env = {} }: ShellContext): ShellState {
  return {
    cwd,
    variables: new Map(),
    exported: new Set([...Object.keys(env), ...'HOME PATH PWD USER SHELL TERM LANG TMPDIR'.split(' ')]),
    functions: new Map(),
    aliases: new Map(),
    positional: SESSION_ARGUMENTS,
    locals: new Map(),
    files: new Map(),
  }
}

function createRun(context: ShellContext, record: ShellRun['record']): ShellRun {
  const run: ShellRun = {
    context,
    record,
    links: new Map(),
    exits: [],
    exitTraps: [],
    runScript,
    runWords,
    commandsInCode,
    runCode(code, state, frame) {
      record.countStep()
      const at = frame.at ?? 0
      if (frame.depth > MAX_DEPTH) {
        record.addOpaque('budget', 'code that runs code is nested too deeply', at)
        return eitherWay(state, unknownText('$(…)'))
      }
      const whole = withFileContents(code, state, frame)
      if (knownText(whole) === undefined)
        record.addOpaque('code', `a part of the code ${shorten(describeText(whole))} is not known`, at)
      // Shells skip a NUL of their input.
      const text = textAsCode(whole).replaceAll('\0', '')
      record.countCode(text.length)
      const { script, problem } = parseShell(text, frame.dialect)
      if (problem) record.addOpaque(problem.reason, problem.message, at)
      const inside: ShellFrame = { ...frame, at, depth: frame.depth + 1 }
      return runScript(script, [state], inside)
    },
  }
  return run
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
