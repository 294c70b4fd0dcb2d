import type { z } from 'zod'
import { HookError } from '../../engine/core/error.ts'
import { readSchema, type SchemaPath } from '../../engine/core/schema.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { type FileProblem, locateProblem, syntaxProblem } from '../file-problem.ts'
import { checkHooks } from '../read/check-hooks.ts'
import { parseSource, resolveCatalogueName } from '../read/read-hook-file.ts'
import { checkWithZod, fromSchemaProblem, type ValueProblem } from '../read/value-problem.ts'
import type { Blueprint } from '../schema/blueprint.ts'
import { fileHookSchema } from '../schema/hook-file.ts'
import type { RuleSet } from '../schema/rules.ts'

/** What a foreign file becomes, with a note for everything that has no equivalent. */
export interface Imported {
  readonly definitions: readonly HookDefinition[]
  readonly rules?: RuleSet
  readonly blueprints?: readonly Blueprint[]
  readonly notes: readonly string[]
}

export type ImportResult =
  | ({ readonly kind: 'imported' } & Imported)
  | { readonly kind: 'refused'; readonly problems: readonly FileProblem[] }

/** A hook and where it stood, so that what is wrong with it can be shown there. */
export interface Translated {
  readonly from: SchemaPath
  readonly hook: HookDefinition
}

export interface Translation {
  readonly hooks?: readonly Translated[]
  readonly rules?: RuleSet
  readonly blueprints?: readonly Blueprint[]
  readonly notes?: readonly string[]
}

/** A file as text with its name, or its content as data. */
export type Foreign = { readonly text: string; readonly path: string } | object

export interface Format<T> {
  readonly schema: z.ZodType<T>
  /** Unknown keys are dropped with a note instead of refused. */
  readonly ignoresUnknownKeys?: true
  readonly also?: (value: unknown) => readonly ValueProblem[]
  translate(value: T): Translation
}

/** What one format makes of a value: problems, or a translation. */
type Attempt = { readonly found: readonly ValueProblem[] } | { readonly made: Translation }

export function attempt<T>(given: unknown, format: Format<T>): Attempt {
  const dropped: string[] = []
  const value = format.ignoresUnknownKeys ? withoutUnknown(format.schema, given, dropped) : given
  const parsed = format.schema.safeParse(value)
  const also = format.also?.(value) ?? []
  if (!parsed.success) return { found: [...checkWithZod(format.schema, value), ...also] }
  if (also.length > 0) return { found: also }
  const made = format.translate(parsed.data)
  const unusable = (made.hooks ?? []).flatMap(checkTranslated)
  return unusable.length > 0
    ? { found: unusable }
    : { made: { ...made, notes: [...dropped, ...(made.notes ?? [])] } }
}

/** Reads a foreign file and translates it; `choose` sees the value and picks the format. */
export function importForeign(given: Foreign, choose: (value: unknown) => Attempt): ImportResult {
  const { text, path } =
    'text' in given && 'path' in given ? given : { text: JSON.stringify(given), path: 'import.json' }
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  const source = parseSource(plain, path)
  if (source instanceof HookError) return { kind: 'refused', problems: [syntaxProblem(plain, path, source)] }
  const result = choose(source.value)
  if ('found' in result)
    return { kind: 'refused', problems: result.found.map((each) => locateProblem(plain, path, source, each)) }
  const { hooks = [], notes = [], ...rest } = result.made
  return { kind: 'imported', definitions: hooks.map(({ hook }) => hook), ...rest, notes }
}

/** What is wrong with a hook after translation is shown where it stood before. */
function checkTranslated({ hook, from }: Translated): ValueProblem[] {
  const found = [
    ...readSchema(fileHookSchema, hook).problems.map((problem) => fromSchemaProblem(problem)),
    ...checkHooks([hook], { resolve: resolveCatalogueName, handlers: undefined }),
  ]
  return found.map(({ error, part }) => ({ path: from, part, error }))
}

function withoutUnknown(schema: z.ZodType, given: unknown, dropped: string[]): unknown {
  const value: unknown = structuredClone(given)
  for (const issue of schema.safeParse(value).error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') continue
    const holder = issue.path.reduce<unknown>(
      (at, step) => (isObject(at) ? Reflect.get(at, step) : undefined),
      value,
    )
    for (const key of issue.keys) {
      dropped.push(`${[...issue.path, key].map(String).join('.')} is not known and was left out`)
      if (isObject(holder)) Reflect.deleteProperty(holder, key)
    }
  }
  return value
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Only the fields that are there; none of ours may be undefined. */
export function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const there = Object.entries(fields).filter(([, value]) => value !== undefined)
  // What is left are fields of T, each with its own value.
  return Object.fromEntries(there) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** An unknown name stays as it is and is refused where it stands. */
export function canonicalEvent(event: string): string {
  try {
    return resolveCatalogueName(event)
  } catch {
    return event
  }
}
