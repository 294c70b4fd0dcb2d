import type { FileEffectKind } from '../evaluate/effect-recorder.ts'
import type { Invocation } from '../evaluate/shell-run.ts'
import type { WordField } from '../expand/shell-text.ts'
import type { Program } from '../programs/program.ts'
import type { OptionSpec, ParsedOptions } from './parse-options.ts'

/** A program, or one of the subcommands that a call names, with the words behind its name. */
export interface Level {
  /** `docker compose exec`, also if the call says `podman`. */
  readonly name: string
  readonly record: Program
  readonly spec: OptionSpec
  readonly args: readonly WordField[]
  readonly parsed: ParsedOptions
}

/** An invocation with the records of its program and subcommands, the deepest last. */
export interface ProgramCall extends Invocation {
  readonly levels: readonly [Level, ...Level[]]
}

/** A program whose files need more than words. */
export interface FileCall {
  readonly invocation: ProgramCall
  readonly parsed: ParsedOptions
  readonly add: (kind: FileEffectKind, field: WordField, below?: string) => void
  /** Adds a file with everything below it. */
  readonly addTree: (kind: FileEffectKind, field: WordField) => void
}

/** What the deepest level that states an aspect says, and that level. */
export function stated<Aspect extends keyof Program>(
  { levels }: ProgramCall,
  aspect: Aspect,
): { readonly value: NonNullable<Program[Aspect]>; readonly level: Level } | undefined {
  for (let index = levels.length - 1; index >= 0; index--) {
    const level = levels[index]
    const value = level?.record[aspect]
    if (level !== undefined && value !== undefined) return { value, level }
  }
  return undefined
}
