import { HookError } from '../../engine/core/error.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { eventNames, type ResolveName } from '../../engine/events/names.ts'
import { type FileProblem, pointerOf } from '../problem.ts'
import { type HookFile, hookFileSchema } from '../schema/hook-file.ts'
import type { FoundInside } from './check-conditions.ts'
import { checkHooks } from './check-hooks.ts'
import { checkRules } from './check-rules.ts'
import { checkAgainst, type Found } from './issues.ts'
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
  const parsed = hookFileSchema.safeParse(source.value)
  const resolve = options.resolve ?? byCatalogue
  const handlers = options.handlers && new Map(options.handlers.map((handler) => [handler.type, handler]))
  const { hooks, rules } = parts(source.value)
  const found: FoundInside[] = [
    ...(parsed.success
      ? (options.also?.(parsed.data.hooks) ?? [])
      : checkAgainst(hookFileSchema, source.value)),
    ...checkHooks(hooks, { resolve, handlers }),
    ...checkRules(rules, resolve).map((each) => ({ ...each, path: ['rules', ...each.path] })),
  ]
  if (parsed.success && found.length === 0) return { kind: 'good', file: parsed.data }
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

function parts(value: unknown): { hooks?: unknown; rules?: unknown } {
  return typeof value === 'object' && value !== null ? value : {}
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
