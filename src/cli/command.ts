import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from 'citty'
import { errorText, isHookError } from '../engine/core/error.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'
import { refuseUnknown } from './unknown-flags.ts'

const common = {
  json: { type: 'boolean', description: 'data for machines on stdout' },
  cwd: { type: 'string', description: 'act as if started in this directory' },
} as const satisfies ArgsDef

type Common = typeof common

interface Spec<A extends ArgsDef> {
  readonly name: string
  readonly about: string
  readonly args?: A
  run(args: ParsedArgs<A & Common>, rest: readonly string[]): Promise<ExitCode> | ExitCode
}

/** A command answers its exit code; whatever it throws is told in one place and one way. */
export function command<const A extends ArgsDef>(spec: Spec<A>): CommandDef<A & Common> {
  // The spread has exactly these keys; the compiler cannot see that for a generic A.
  const args = { ...spec.args, ...common } as A & Common
  return defineCommand({
    meta: { name: spec.name, description: spec.about },
    args,
    async run({ args: given }) {
      try {
        refuseUnknown(given, Object.keys(args))
        process.exitCode = await spec.run(given, given._)
      } catch (error) {
        report(error, given.json === true)
        process.exitCode = exitCodes.failed
      }
    },
  })
}

function report(error: unknown, json: boolean): void {
  if (!isHookError(error)) tell(`error: ${errorText(error)}`)
  else if (json) print({ error: error.toJSON() })
  else {
    // The lines of a file's problems each carry their own hint already.
    const hint = error.message.includes(`(${error.hint})`) ? '' : `\n  ${error.hint}`
    tell(`${error.code}: ${error.message}${hint}`)
  }
}
