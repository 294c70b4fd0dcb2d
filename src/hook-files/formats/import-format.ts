import { HookError } from '../../engine/core/errors/error.ts'
import { readSchema, type Schema, type SchemaPath } from '../../engine/core/schema/schema.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { type FileProblem, jsonPointer, locateProblem, syntaxProblem } from '../file-problem.ts'
import { checkHooks } from '../read/check-hooks.ts'
import { parseSource, resolveCatalogueName } from '../read/read-hook-file.ts'
import { lineAndColumn, type Source } from '../read/source.ts'
import { fromSchemaProblem, type ValueProblem } from '../read/value-problem.ts'
import { fileHookSchema } from '../schema/hook-file.ts'
import { ImportLedger, type ImportNote } from './import-ledger.ts'

/** The hooks of an imported file, with a note for everything that has no equivalent. */
export interface ImportedFile {
  readonly definitions: readonly HookDefinition[]
  readonly notes: readonly string[]
}

export type ImportResult =
  | ({ readonly kind: 'imported' } & ImportedFile)
  | { readonly kind: 'refused'; readonly problems: readonly FileProblem[] }

/** A translated hook and its path in the file, for error messages. */
export interface ImportedHook {
  readonly from: SchemaPath
  readonly hook: HookDefinition
}

/** A file as text with its name, or its content as data. */
export type ImportSource = { readonly text: string; readonly path: string } | object

export interface ImportFormat<T> {
  readonly schema: Schema<T>
  /** Translates the hooks. The ledger receives every value that is used, and a note for what changes its meaning. */
  translate(value: T, ledger: ImportLedger): readonly ImportedHook[]
}

/** The problems of a value in one format, or its translation. */
export type ImportAttempt =
  | { readonly found: readonly ValueProblem[] }
  | { readonly made: { readonly hooks: readonly ImportedHook[]; readonly notes: readonly ImportNote[] } }

/** Checks a value against a format and translates it. */
export function translateWith<T>(value: unknown, format: ImportFormat<T>): ImportAttempt {
  const read = readSchema(format.schema, value)
  if (read.problems.length > 0) return { found: read.problems.map((problem) => fromSchemaProblem(problem)) }
  const ledger = new ImportLedger()
  const hooks = format.translate(read.value, ledger)
  ledger.noteUnused(value)
  const found = [...ledger.problems, ...hooks.flatMap(checkTranslated)]
  return found.length > 0 ? { found } : { made: { hooks, notes: ledger.notes } }
}

/** Parses a file and translates it with the format that `choose` picks for its content. */
export async function runImport(
  given: ImportSource,
  choose: (value: unknown, path: string) => Promise<ImportAttempt>,
): Promise<ImportResult> {
  const { text, path } =
    'text' in given && 'path' in given ? given : { text: JSON.stringify(given), path: 'import.json' }
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  const source = parseSource(plain, path)
  if (source instanceof HookError) return { kind: 'refused', problems: [syntaxProblem(plain, path, source)] }
  const result = await choose(source.value, path)
  if ('found' in result)
    return { kind: 'refused', problems: result.found.map((each) => locateProblem(plain, path, source, each)) }
  const { hooks, notes } = result.made
  return {
    kind: 'imported',
    definitions: hooks.map(({ hook }) => hook),
    notes: notes.map((note) => describeNote(plain, source, note)),
  }
}

/** `line 3 /hooks/0/once: …`. */
function describeNote(text: string, source: Source, { path, text: meaning }: ImportNote): string {
  const { line } = lineAndColumn(text, source.offset(path, 'key'))
  return `${[`line ${line}`, jsonPointer(path)].filter((part) => part !== '').join(' ')}: ${meaning}`
}

/** Reports the problems of a translated hook at its path in the original file. */
function checkTranslated({ hook, from }: ImportedHook): ValueProblem[] {
  const found = [
    ...readSchema(fileHookSchema, hook).problems.map((problem) => fromSchemaProblem(problem)),
    ...checkHooks([hook], { resolve: resolveCatalogueName, handlers: undefined }),
  ]
  return found.map(({ error, part }) => ({ path: from, part, error }))
}

/** The fields that have a value. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined)
  // Sound: only fields of T remain, each with its own value.
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** Our name for an event. An unknown name is returned unchanged, and validation refuses it later. */
export function canonicalEvent(event: string): string {
  try {
    return resolveCatalogueName(event)
  } catch {
    return event
  }
}
