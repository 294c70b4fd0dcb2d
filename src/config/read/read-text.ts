import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { readSchema, type SchemaProblem } from '../../engine/core/schema.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { eventNames, type ResolveName } from '../../engine/events/names.ts'
import { type FileProblem, pointerOf } from '../problem.ts'
import { type HookFile, hookFileSchema, misplacedKeys } from '../schema/hook-file.ts'
import type { FoundInside } from './check-conditions.ts'
import { checkHooks } from './check-hooks.ts'
import { type Found, foundProblem } from './issues.ts'
import { jsonSource } from './json-source.ts'
import { lineAndColumn, type Source } from './source.ts'
import { yamlSource } from './yaml-source.ts'

export interface ReadOptions {
  /** The handlers that will run the hooks; where they are given, each reads its config here already. */
  readonly handlers?: readonly Handler[]
  /** How event names are found; the catalogue unless told. */
  readonly resolve?: ResolveName
  /** What else must hold, asked when the shape is right. */
  readonly also?: (hooks: HookFile['hooks']) => readonly Found[]
}

/** What a hook file says, or everything that is wrong with it: a file is taken as a whole or not at all. */
export type ReadResult =
  | { readonly kind: 'good'; readonly file: HookFile }
  | { readonly kind: 'bad'; readonly problems: readonly [FileProblem, ...FileProblem[]] }

export const byCatalogue = eventNames(catalogue)

/** Reads the text of a hook file; `path` names it in problems, and its ending says whether it is JSON. */
export function readHookText(given: string, path: string, options: ReadOptions = {}): ReadResult {
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  const source = parseSource(text, path)
  if (source instanceof HookError) return bad([syntaxProblem(text, path, source)])
  const { value: file, problems } = readSchema(hookFileSchema, source.value)
  const resolve = options.resolve ?? byCatalogue
  const handlers = options.handlers && new Map(options.handlers.map((handler) => [handler.type, handler]))
  const found: FoundInside[] = [
    ...problems.map((problem) => misplaced(problem) ?? foundProblem(problem)),
    ...(problems.length === 0 ? (options.also?.(file.hooks) ?? []) : []),
    ...checkHooks(isRecord(source.value) ? source.value.hooks : undefined, { resolve, handlers }),
  ]
  if (found.length === 0) return { kind: 'good', file }
  return bad(found.map((each) => located(text, path, source, each)).sort(byPlace))
}

function bad(problems: readonly FileProblem[]): ReadResult {
  const [first, ...rest] = problems
  if (first === undefined) throw new HookError('config.syntax', 'a hook file was refused without a reason')
  return { kind: 'bad', problems: [first, ...rest] }
}

/** Parses a text by the ending of its name; an error carries the offset in `at`. */
export function parseSource(text: string, path: string): Source | HookError {
  try {
    return /\.jsonc?$/i.test(path) ? jsonSource(text) : yamlSource(text)
  } catch (error) {
    if (error instanceof HookError) return error
    throw error
  }
}

/** Recovery rules and blueprints have files of their own. */
function misplaced({ path, part }: SchemaProblem): Found | undefined {
  const [key] = path
  const message = path.length === 1 && part === 'key' ? misplacedKeys[String(key)] : undefined
  return message === undefined
    ? undefined
    : { path, part, error: new HookError('config.field', message, { hint: 'Move them there.' }) }
}

export function syntaxProblem(
  text: string,
  file: string,
  { code, message, hint, at }: HookError,
): FileProblem {
  return { file, ...lineAndColumn(text, Number(at ?? 0)), pointer: '', code, message, hint }
}

export function located(text: string, file: string, source: Source, found: FoundInside): FileProblem {
  const { path, part, inside, error } = found
  const offset = inside === undefined ? source.offset(path, part) : source.inside(path, inside)
  const { code, message, hint } = error
  return { file, ...lineAndColumn(text, offset), pointer: pointerOf(path), code, message, hint }
}

function byPlace(a: FileProblem, b: FileProblem): number {
  return a.line - b.line || a.column - b.column
}
