import type { ShellCommand } from '../../engine/core/shell-effects.ts'
import { absolutePath, certainPath } from '../evaluate/resolve-path.ts'
import { scriptContent } from '../evaluate/script-content.ts'
import { type Invocation, viaStep } from '../evaluate/shell-run.ts'
import { eitherWay, type ShellOutcome, type ShellState } from '../evaluate/shell-state.ts'
import {
  describeField,
  describeText,
  exactField,
  hasPattern,
  isFieldKnown,
  knownText,
  reportField,
  type WordField,
} from '../expand/shell-text.ts'
import { builtins } from './builtins.ts'
import { hasFileEffects, recordFileEffects } from './file-effects.ts'
import { runFind, runParallel, runXargs } from './find-and-xargs.ts'
import { runGitCode } from './git-code.ts'
import { runOtherLanguage, runShell, runsInlineCode } from './interpreters.ts'
import { recordHosts } from './network-effects.ts'
import { hasOwnCode, recordOwnCode } from './own-code.ts'
import { type ParsedOptions, parseOptions } from './parse-options.ts'
import { printedOutput } from './printed-output.ts'
import { isShell } from './program-name.ts'
import { hasOptionTable, optionsOf } from './program-options.ts'
import { findWrapper, runWrapper } from './run-wrapper.ts'
import { runUnlisted } from './unlisted-program.ts'

const programs: Readonly<Record<string, (invocation: Invocation) => ShellOutcome>> = {
  xargs: runXargs,
  gxargs: runXargs,
  find: runFind,
  gfind: runFind,
  parallel: runParallel,
}

/** Programs that have subcommands, with the options before them. */
const withSubcommands = new Set([
  'git',
  'docker',
  'podman',
  'kubectl',
  'npm',
  'pnpm',
  'yarn',
  'pip',
  'pip3',
  'cargo',
  'go',
  'terraform',
  'tofu',
  'helm',
  'gh',
  'aws',
  'gcloud',
  'az',
  'brew',
  'apt',
  'apt-get',
  'systemctl',
  'bun',
  'uv',
  'poetry',
  'make',
  'oc',
  'doctl',
  'heroku',
  'vercel',
  'wrangler',
  'flyctl',
  'fly',
  'supabase',
  'prisma',
  'docker-compose',
])

/** Records a command and everything that follows from it. */
export function runProgram(invocation: Invocation): ShellOutcome {
  const { program, written, args, state, frame, at } = invocation
  const subcommand = subcommandOf(program, args)
  frame.run.record.addCommand({
    program,
    ...(written === program ? {} : { path: written }),
    ...(subcommand === undefined ? {} : { subcommand }),
    args: args.map(reportField),
    ...splitArguments(program, subcommand, args),
    via: frame.via,
    ...(state.cwd === undefined || frame.remote !== undefined ? {} : { cwd: state.cwd }),
    ...(frame.remote === undefined ? {} : { remote: frame.remote }),
    at,
  })
  if (/^(pwsh|powershell|cmd)(\.exe)?$/i.test(program))
    frame.run.record.addOpaque('other-shell', `${program} runs code that the analyser does not read`, at)
  recordHosts(invocation, subcommand)
  const builtin = Object.hasOwn(builtins, written) ? builtins[written]?.(invocation) : undefined
  if (builtin) return builtin
  if (isShell(program)) return runShell(invocation)
  const run = Object.hasOwn(programs, program) ? programs[program] : undefined
  if (run) return run(invocation)
  if (program === 'git') runGitCode(invocation, subcommand)
  // The parts of git are programs in a folder of their own: `/usr/lib/git-core/git-push`.
  const part = /\/git-([a-z][a-z-]*)$/.exec(written)?.[1]
  if (part !== undefined)
    return frame.run.runWords([exactField('git'), exactField(part), ...args], state, viaStep(frame, program))
  recordFileEffects(invocation, subcommand)
  recordOwnCode(invocation)
  const wrapped = runWrapper(invocation)
  if (wrapped) return wrapped
  const outcome = runOtherLanguage(invocation)
  // A script of another language may run a command that it gets as an argument.
  if (outcome && !runsInlineCode(invocation))
    runUnlisted(invocation, { hasSubcommands: false, readsData: true })
  const script = outcome ?? runNamedScript(invocation)
  if (script) return script
  const isListed = program === 'git' || hasFileEffects(program) || hasFileEffects(`${program} ${subcommand}`)
  if (!isListed)
    runUnlisted(invocation, { hasSubcommands: withSubcommands.has(program), readsData: hasOwnCode(program) })
  return eitherWay(state, printedOutput(invocation))
}

function subcommandOf(program: string, args: readonly WordField[]): string | undefined {
  if (!withSubcommands.has(program)) return undefined
  const spec = optionsOf(program)
  const { operands } = parseOptions(args, { ...spec, stops: true })
  const [first] = operands
  return first && isFieldKnown(first) && !hasPattern(first) ? describeField(first) : undefined
}

/** The flags of a command, each by its shortest name, and its operands. */
function splitArguments(
  program: string,
  subcommand: string | undefined,
  args: readonly WordField[],
): Pick<ShellCommand, 'flags' | 'operands'> {
  if (args.every((arg) => !describeField(arg).startsWith('-')))
    return { flags: [], operands: args.map(describeField) }
  // Options after the command of a wrapper belong to that command.
  const stops = findWrapper(program, args) !== undefined || Object.hasOwn(programs, program)
  const { options, operands } =
    subcommand === undefined
      ? parseOptions(args, { ...optionsOf(program), stops: stops || optionsOf(program).stops })
      : splitSubcommand(program, subcommand, args, stops)
  return {
    flags: [...new Set(options.map(({ name }) => name))].sort(),
    operands: operands.map(describeField),
  }
}

/** Options before the subcommand are those of the program; its own ones follow. */
function splitSubcommand(
  program: string,
  subcommand: string,
  args: readonly WordField[],
  stops: boolean,
): ParsedOptions {
  const spec = optionsOf(program)
  const before = parseOptions(args, { ...spec, stops: true })
  const key = `${program} ${subcommand}`
  const own = hasOptionTable(key) ? optionsOf(key) : spec.stops ? optionsOf('') : spec
  const [word = [], ...rest] = before.operands
  const after = parseOptions(rest, { ...own, stops })
  return { options: [...before.options, ...after.options], operands: [word, ...after.operands] }
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
