import type { ShellCommand } from '../../engine/core/shell-effects.ts'
import { builtins } from '../evaluate/builtins.ts'
import { absolutePath, certainPath } from '../evaluate/resolve-path.ts'
import { scriptContent } from '../evaluate/script-content.ts'
import { type Invocation, viaStep } from '../evaluate/shell-run.ts'
import { eitherWay, type ShellOutcome, type ShellState } from '../evaluate/shell-state.ts'
import {
  describeField,
  describeText,
  exactField,
  fieldText,
  knownText,
  reportField,
  unknownText,
} from '../expand/shell-text.ts'
import { runFallback } from './fallback.ts'
import { runOtherLanguage, runShell, runsInlineCode } from './interpreters.ts'
import { optionValues, parseOptions } from './parse-options.ts'
import { type ProgramCall, stated } from './program-call.ts'
import { isShell } from './program-name.ts'
import { recordFiles } from './record-files.ts'
import { recordHosts } from './record-hosts.ts'
import { resolveProgram } from './resolve-program.ts'
import { runCodeOf } from './run-code.ts'
import { runWrapper } from './run-wrapper.ts'

/** Records a command and everything that follows from it. */
export function runProgram(invocation: Invocation): ShellOutcome {
  const { program, written, args, state, frame, at } = invocation
  const call: ProgramCall = { ...invocation, levels: resolveProgram(program, args) }
  recordCommand(call)
  if (/^(pwsh|powershell|cmd)(\.exe)?$/i.test(program))
    frame.run.record.addOpaque('other-shell', `${program} runs code that the analyser does not read`, at)
  recordHosts(call)
  const builtin = Object.hasOwn(builtins, written) ? builtins[written]?.(invocation) : undefined
  if (builtin) return builtin
  if (isShell(program)) return runShell(invocation)
  const run = stated(call, 'run')?.value
  if (run) return run(call)
  // The parts of git are programs in a folder of their own: `/usr/lib/git-core/git-push`.
  const part = /\/git-([a-z][a-z-]*)$/.exec(written)?.[1]
  if (part !== undefined)
    return frame.run.runWords([exactField('git'), exactField(part), ...args], state, viaStep(frame, program))
  recordFiles(call)
  stated(call, 'special')?.value(call, args.map(describeField))
  const wrapped = runWrapper(call)
  if (wrapped) return wrapped
  runOptionCode(call)
  const outcome = runOtherLanguage(call)
  const script = outcome ? undefined : runNamedScript(invocation)
  if (script) return script
  // A script of another language may run a command that it gets as an argument.
  if (!outcome || !runsInlineCode(call)) runFallback(call, outcome !== undefined)
  return outcome ?? eitherWay(state, stated(call, 'prints')?.value(call) ?? unknownText(`$(${program})`))
}

function recordCommand(call: ProgramCall): void {
  const { program, written, args, state, frame, at, levels } = call
  const [, subcommand] = levels[1]?.name.split(' ') ?? []
  frame.run.record.addCommand({
    program,
    ...(written === program ? {} : { path: written }),
    ...(subcommand === undefined ? {} : { subcommand }),
    args: args.map(reportField),
    ...splitArguments(call),
    via: frame.via,
    ...(state.cwd === undefined || frame.remote !== undefined ? {} : { cwd: state.cwd }),
    ...(frame.remote === undefined ? {} : { remote: frame.remote }),
    at,
  })
}

/** The flags of a command, each by its shortest name, and its operands. Options before a subcommand are those of the program. */
function splitArguments(call: ProgramCall): Pick<ShellCommand, 'flags' | 'operands'> {
  const { args, levels } = call
  if (args.every((arg) => !describeField(arg).startsWith('-')))
    return { flags: [], operands: args.map(describeField) }
  const { runs, run } = levels[levels.length - 1]?.record ?? {}
  // Options after the command of a wrapper belong to that command.
  const stops = run !== undefined || (typeof runs === 'object' && !runs.mixed)
  const parsed = levels.map(({ args: words, spec, parsed: whole }, index) => {
    const isLast = index === levels.length - 1
    if (isLast && (!stops || spec.stops)) return whole
    const { options, operands } = parseOptions(words, { ...spec, stops: true })
    return { options, operands: isLast ? operands : operands.slice(0, 1) }
  })
  return {
    flags: [...new Set(parsed.flatMap(({ options }) => options.map(({ name }) => name)))].sort(),
    operands: parsed.flatMap(({ operands }) => operands.map(describeField)),
  }
}

/** Runs the values of options that are code. */
function runOptionCode(call: ProgramCall): void {
  const code = stated(call, 'code')
  if (code === undefined) return
  for (const field of optionValues(code.level.parsed.options, ...code.value))
    if (describeField(field) !== '') runCodeOf(call, fieldText(field), code.level.name)
}

/** A program that the line wrote into a folder which it added to `PATH`. */
function findInPath(name: string, { files, variables, cwd }: ShellState): string | undefined {
  const value = files.size === 0 ? undefined : variables.get('PATH')
  if (value === undefined) return undefined
  return describeText(value.flat())
    .split(':')
    .map((folder) => absolutePath(`${folder || '.'}/${name}`, cwd))
    .find((path) => path !== undefined && files.has(path))
}

/** A shell script that is run by its path. Other programs are only named. */
function runNamedScript({ written: name, args, state, frame, at }: Invocation): ShellOutcome | undefined {
  const written = name.includes('/') ? name : findInPath(name, state)
  if (written === undefined) return undefined
  const file = exactField(written)
  const content = scriptContent(file, state, frame)
  const path = certainPath(file, state.cwd)
  const isOwn = path !== undefined && state.files.has(path)
  if (content === undefined) {
    if (!/\.(sh|bash|zsh)$/.test(written) || frame.remote !== undefined) return undefined
    frame.run.record.addOpaque('script', `the script ${written} cannot be read, or is too large`, at)
    return undefined
  }
  const text = knownText(content)
  const firstLine = text?.split('\n')[0] ?? ''
  const isShellScript =
    /^#!.*\b(ba|da|z|k)?sh\b/.test(firstLine) ||
    (!firstLine.startsWith('#!') && (isOwn || /\.(sh|bash|zsh)$/.test(written)))
  if (!isShellScript && text !== undefined) {
    if (isOwn) frame.run.record.addOpaque('inline-code', `${written} is a program that the line writes`, at)
    return undefined
  }
  // Without a first line that names it, the running shell decides which shell runs a script.
  const fallback = { bash: 'bash', sh: 'dash', zsh: 'sh' }[frame.dialect]
  const shell = /^#!.*?\b((?:ba|da|z|k)?sh)\b/.exec(firstLine)?.[1] ?? fallback
  return runShell({ program: shell, written: shell, args: [file, ...args], state, frame, at })
}
