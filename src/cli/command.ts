import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs, parseArgs } from 'citty'
import { errorText, HookError, isHookError } from '../engine/core/errors/error.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { nearest } from '../engine/core/values/nearest.ts'
import { printMessage, printOutput } from './output.ts'

/** What the shell sees. A test keeps the table in `docs/cli.md` in step. */
export const exitCodes = {
  ok: 0,
  /** Wrong arguments, an unusable file, any error that is not a decision. */
  failed: 1,
  blocked: 2,
  asks: 3,
  /** The repository has a hook file that the user has not trusted. */
  untrusted: 4,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

const sharedArgs = {
  json: { type: 'boolean', description: 'print JSON to stdout' },
  cwd: { type: 'string', description: 'run as if started in this directory' },
} as const satisfies ArgsDef

type SharedArgs = typeof sharedArgs

/** The values of flags, as far as they are given: texts and switches. */
export type Flags<Text extends string, Switch extends string = never> = {
  readonly [Name in Text]?: string | undefined
} & { readonly [Name in Switch]?: boolean | undefined }

interface CommandSpec<A extends ArgsDef> {
  /** Of a subcommand. The others are described in the command table. */
  readonly meta?: { readonly name: string; readonly description: string }
  readonly args?: A
  /** Takes any number of words; otherwise a word that no positional argument takes is refused. */
  readonly manyWords?: true
  run(args: ParsedArgs<A & SharedArgs>, rest: readonly string[]): Promise<ExitCode> | ExitCode
}

/** Adds the shared flags, turns the returned exit code into the process's, and reports every error in the same way. */
export function command<const A extends ArgsDef>(spec: CommandSpec<A>): CommandDef<A & SharedArgs> {
  // The spread has exactly these keys; the compiler cannot see that for a generic A.
  const args = { ...spec.args, ...sharedArgs } as A & SharedArgs
  return defineCommand({
    ...definedFields({ meta: spec.meta }),
    args,
    async run({ args: parsed, rawArgs }) {
      const words = joinSwitches(rawArgs, args)
      const given = words.length === rawArgs.length ? parsed : parseArgs<A & SharedArgs>(words, args)
      try {
        rejectUnknownFlags(given, Object.keys(args))
        if (!spec.manyWords) rejectUnknownWords(given._, args)
        process.exitCode = await spec.run(given, given._)
      } catch (error) {
        reportError(error, given.json === true)
        process.exitCode = exitCodes.failed
      }
    },
  })
}

/**
 * `--enabled false` as `--enabled=false`: the parser takes a switch without a value for true, and the word for an argument.
 * `--json` takes no value, because the line of `hookhelm shell` may follow it.
 */
function joinSwitches(words: readonly string[], args: ArgsDef): string[] {
  const end = words.indexOf('--')
  const isSwitch = (at: number) => {
    const [, name = ''] = /^--([a-z][\w-]*)$/.exec(words[at] ?? '') ?? []
    return (end === -1 || at < end) && name !== 'json' && args[name]?.type === 'boolean'
  }
  const hasValue = (at: number) => isSwitch(at) && /^(true|false)$/.test(words[at + 1] ?? '')
  return words.flatMap((word, at) =>
    hasValue(at - 1) ? [] : [hasValue(at) ? `${word}=${words[at + 1]}` : word],
  )
}

/** The parser accepts any flag, and a misspelt flag would be ignored silently. */
export function rejectUnknownFlags(given: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const names = new Set(known.flatMap((name) => [name, camelCase(name)]))
  const unknown = Object.keys(given).find((name) => name !== '_' && !names.has(name))
  if (unknown === undefined) return
  const near = nearest(unknown, known)
  throw new HookError('config.field', `there is no flag --${unknown.slice(0, 80)}`, {
    hint: near === undefined ? 'Run the command with --help to list its flags.' : `Did you mean --${near}?`,
  })
}

/** The parser ignores words that no positional argument takes: `runs start some-agent` would start another one. */
function rejectUnknownWords(words: readonly string[], args: ArgsDef): void {
  const positional = Object.entries(args).filter(([, { type }]) => type === 'positional')
  const unknown = words[positional.length]
  if (unknown === undefined) return
  const names = positional.map(([name]) => name)
  throw new HookError('config.field', `there is no place for the word ${unknown.slice(0, 80)}`, {
    hint:
      names.length === 0
        ? 'This command takes flags only; --help lists them.'
        : `This command takes ${names.join(', ')}, and flags; --help lists them. Quote a value that has blanks.`,
  })
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function reportError(error: unknown, json: boolean): void {
  if (!isHookError(error)) printMessage(`error: ${errorText(error)}`)
  else if (json) printOutput({ error: error.toJSON() })
  else {
    // Each problem line of a hook file already carries its own hint.
    const hint = error.message.includes(`(${error.hint})`) ? '' : `\n  ${error.hint}`
    printMessage(`${error.code}: ${error.message}${hint}`)
  }
}
