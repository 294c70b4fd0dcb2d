import type { ShellCommand } from '../../engine/core/shell-effects.ts'
import { certainPath, recordFile } from '../evaluate/resolve-path.ts'
import { scriptContent } from '../evaluate/script-content.ts'
import { type Invocation, viaStep } from '../evaluate/shell-run.ts'
import { eitherWay, type ShellOutcome } from '../evaluate/shell-state.ts'
import {
  describeField,
  describeText,
  exactField,
  fieldText,
  hasPattern,
  isFieldKnown,
  knownText,
  reportField,
  type ShellText,
  type WordField,
} from '../expand/shell-text.ts'
import { builtins } from './builtins.ts'
import { recordFileEffects } from './file-effects.ts'
import { runFind, runParallel, runXargs } from './find-and-xargs.ts'
import { runGitCode } from './git-code.ts'
import { isShell, runOtherLanguage, runShell } from './interpreters.ts'
import { recordHosts } from './network-effects.ts'
import { hasOption, type ParsedOptions, parseOptions } from './parse-options.ts'
import { printedOutput } from './printed-output.ts'
import { hasOptionTable, optionsOf } from './program-options.ts'
import { childState, findWrapper, runWrapper } from './run-wrapper.ts'

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
  recordFileEffects(invocation, subcommand)
  recordOwnCode(invocation)
  return (
    runWrapper(invocation) ??
    runOtherLanguage(invocation) ??
    runNamedScript(invocation) ??
    eitherWay(state, printedOutput(invocation))
  )
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

/** Code and scripts that some programs get by an option or by their input. */
function recordOwnCode(invocation: Invocation): void {
  const { program, args, frame, at } = invocation
  const texts = args.map(describeField)
  const { record } = frame.run
  if (/^(g|gnu|b)?make$/.test(program)) {
    const readsInput =
      texts.some(
        (text, index) =>
          /^(-f|--file|--makefile)$/.test(text) && /^(-|\/dev\/stdin)$/.test(texts[index + 1] ?? ''),
      ) || texts.some((text) => /^(-f-|--(make)?file=-)$/.test(text))
    if (readsInput || texts.some((text) => /^(--eval|-E|SHELL=)/.test(text)))
      record.addOpaque('inline-code', `${program} runs rules that the line contains`, at)
  }
  if (
    /^(vim?|nvim|ex|view|ed|red)$/.test(program) &&
    (frame.stdin !== undefined || texts.some((text) => /^(-c|--cmd|-S|-s|\+.)/.test(text)))
  )
    record.addOpaque('inline-code', `${program} runs editor commands that the line contains`, at)
  if (program === 'at' || program === 'batch') runInputCode(invocation)
  if (program === 'crontab' && !texts.some((text) => /^-[lre]$/.test(text)))
    record.addOpaque('code', 'crontab installs commands that run later', at)
  if (program === 'ssh' || program === 'scp' || program === 'sftp')
    for (const text of texts) if (/(proxy|local)command\s*=?/i.test(text)) runSshOption(invocation, text)
  if (/^(nc|ncat|netcat)$/.test(program)) {
    const { options } = parseOptions(args, optionsOf('nc'))
    for (const { name, value } of options)
      if ((name === 'e' || name === 'c') && value) runCodeOf(invocation, fieldText(value))
  }
  if (program === 'scp' || program === 'sftp') runOptionCode(invocation, 'S')
  if (program === 'socat') runSocat(invocation)
  if (program === 'ansible') runOptionCode(invocation, 'a')
  if (
    program === 'screen' &&
    texts.some((text) => /^-\w*X$/.test(text)) &&
    texts.some((text) => /^(stuff|exec)$/.test(text))
  )
    runCodeOf(invocation, fieldText(args.at(-1) ?? []))
  if (program === 'script') recordTypescript(invocation)
  if (program === 'bwrap')
    record.addOpaque('option', 'which command bwrap runs depends on options that are not known', at)
  runDatabaseShell(invocation, texts)
}

/** Clients of databases run shell code after an escape: `.shell`, `\\!`. */
const databaseEscapes: Readonly<Record<string, RegExp>> = {
  sqlite3: /^\s*\.(?:shell|system)\s+(.+)/m,
  psql: /\\!\s*(.+)/m,
  mysql: /(?:^\s*system\s|\\!)\s*(.+)/m,
  mariadb: /(?:^\s*system\s|\\!)\s*(.+)/m,
}

function runDatabaseShell({ program, frame, state }: Invocation, texts: readonly string[]): void {
  const escapeCode = Object.hasOwn(databaseEscapes, program) ? databaseEscapes[program] : undefined
  if (escapeCode === undefined) return
  const given = [...texts, ...(frame.stdin === undefined ? [] : [describeText(frame.stdin)])]
  for (const text of given) {
    const code = escapeCode.exec(text)?.[1]
    if (code !== undefined)
      frame.run.runCode([code], childState(state), { ...viaStep(frame, program), depth: frame.depth + 1 })
  }
}

/** Runs the value of an option that is code. */
function runOptionCode(invocation: Invocation, option: string): void {
  const { options } = parseOptions(invocation.args, optionsOf(invocation.program))
  for (const { name, value } of options) if (name === option && value) runCodeOf(invocation, fieldText(value))
}

function runCodeOf({ program, frame, state }: Invocation, code: ShellText): void {
  frame.run.runCode(code, childState(state), { ...viaStep(frame, program), depth: frame.depth + 1 })
}

/** `EXEC:program,options` and `SYSTEM:code,options` are addresses of socat. */
function runSocat(invocation: Invocation): void {
  for (const arg of invocation.args) {
    const address = describeField(arg)
    const code = /^(?:exec|system|shell):(.*)$/is.exec(address)?.[1]
    if (code === undefined) continue
    if (isFieldKnown(arg)) runCodeOf(invocation, [code.replace(/(,[a-z0-9-]+(=[^,]*)?)+$/i, '')])
    else
      invocation.frame.run.record.addOpaque(
        'code',
        'a part of the command of socat is not known',
        invocation.at,
      )
  }
}

function runInputCode({ program, frame, state, at }: Invocation): void {
  if (frame.stdin === undefined) return
  const { stdin, ...inside } = frame
  frame.run.runCode(stdin, childState(state), { ...viaStep(inside, program), depth: frame.depth + 1, at })
}

function runSshOption({ program, frame, state }: Invocation, text: string): void {
  const code = text.replace(/^.*?command\s*=?\s*/i, '')
  if (code !== '')
    frame.run.runCode([code], childState(state), {
      ...viaStep(frame, `${program} ProxyCommand`),
      depth: frame.depth + 1,
    })
}

function recordTypescript({ args, state, frame, at }: Invocation): void {
  const { operands, options } = parseOptions(args, optionsOf('script'))
  const [file] = operands
  if (!hasOption(options, 'O', 'I', 'B'))
    recordFile(state, frame)('writes', { field: file ?? exactField('typescript'), by: 'script', at })
}

/** A shell script that is run by its path. Other programs are only named. */
function runNamedScript({ written, args, state, frame, at }: Invocation): ShellOutcome | undefined {
  if (!written.includes('/')) return undefined
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
