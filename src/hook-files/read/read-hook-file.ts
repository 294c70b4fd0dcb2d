import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { readSchema, type SchemaProblem } from '../../engine/core/schema/schema.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { createNameResolver, type ResolveEventName } from '../../engine/events/event-names.ts'
import { type FileProblem, locateProblem, syntaxProblem, wholeFileProblem } from '../file-problem.ts'
import { type HookFile, hookFileSchema, misplacedKeys } from '../schema/hook-file.ts'
import { checkHooks } from './check-hooks.ts'
import { jsonSource } from './json-source.ts'
import { type FileOwner, type HookFileLevel, loadFile, unreadableFile } from './load-file.ts'
import type { Source } from './source.ts'
import { fromSchemaProblem, type ValueProblem } from './value-problem.ts'
import { yamlSource } from './yaml-source.ts'

export interface ReadHookTextOptions {
  /** The handlers that will run the hooks. If given, each checks the `config` of its hooks. */
  readonly handlers?: readonly Handler[]
  /** Resolves event names; the catalogue by default. */
  readonly resolve?: ResolveEventName
  /** Further checks, made if the file fits its schema. */
  readonly also?: (hooks: HookFile['hooks']) => readonly ValueProblem[]
}

/** A hook file, or every problem in it: a file is used as a whole or not at all. */
export type ReadHookFileResult =
  | { readonly kind: 'good'; readonly file: HookFile }
  | { readonly kind: 'bad'; readonly problems: readonly [FileProblem, ...FileProblem[]] }

/** Resolves the names and aliases of the events in the catalogue. */
export const resolveCatalogueName = createNameResolver(catalogue)

export interface ReadHookFileOptions extends ReadHookTextOptions {
  readonly level?: HookFileLevel
  readonly owner?: FileOwner
}

/** Reads a hook file from disk. Problems of the file are the result; it throws only for other errors. */
export function readHookFile(path: string, options: ReadHookFileOptions = {}): ReadHookFileResult {
  try {
    const { level = 'user', owner } = options
    const loaded = loadFile(path, level, owner === undefined ? {} : { owner })
    if (loaded === undefined) throw unreadableFile(path, 'does not exist')
    return readHookText(loaded.text, path, options)
  } catch (error) {
    if (error instanceof HookError) return { kind: 'bad', problems: [wholeFileProblem(path, error)] }
    throw error
  }
}

/** Reads the text of a hook file. Problems name `path`; its extension decides between JSON and YAML. */
export function readHookText(
  given: string,
  path: string,
  options: ReadHookTextOptions = {},
): ReadHookFileResult {
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  const source = parseSource(text, path)
  if (source instanceof HookError) return badFile([syntaxProblem(text, path, source)])
  const { value: file, problems: schemaProblems } = readSchema(hookFileSchema, source.value)
  const resolve = options.resolve ?? resolveCatalogueName
  const handlers = options.handlers && new Map(options.handlers.map((handler) => [handler.type, handler]))
  const problems: ValueProblem[] = [
    ...schemaProblems.map((problem) => misplacedKey(problem) ?? fromSchemaProblem(problem)),
    ...(schemaProblems.length === 0 ? (options.also?.(file.hooks) ?? []) : []),
    ...checkHooks(isRecord(source.value) ? source.value.hooks : undefined, { resolve, handlers }),
  ]
  if (problems.length === 0) return { kind: 'good', file }
  return badFile(problems.map((problem) => locateProblem(text, path, source, problem)).sort(byPosition))
}

function badFile(problems: readonly FileProblem[]): ReadHookFileResult {
  const [first, ...rest] = problems
  if (first === undefined) throw handlerError('config.syntax', 'a hook file was refused without a reason')
  return { kind: 'bad', problems: [first, ...rest] }
}

/** Parses a text by the extension of its file name. Returns the error of a bad text, with the offset in `at`. */
export function parseSource(text: string, path: string): Source | HookError {
  try {
    return /\.jsonc?$/i.test(path) ? jsonSource(text) : yamlSource(text)
  } catch (error) {
    if (error instanceof HookError) return error
    throw error
  }
}

/** The problem of a key that belongs in another file, such as `rules`. */
function misplacedKey({ path, part }: SchemaProblem): ValueProblem | undefined {
  const [key] = path
  const message = path.length === 1 && part === 'key' ? misplacedKeys[String(key)] : undefined
  return message === undefined
    ? undefined
    : { path, part, error: new HookError('config.field', message, { hint: 'Move them there.' }) }
}

function byPosition(a: FileProblem, b: FileProblem): number {
  return a.line - b.line || a.column - b.column
}
