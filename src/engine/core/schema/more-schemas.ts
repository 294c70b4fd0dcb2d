import { isRecord } from './check.ts'
import {
  type FieldsType,
  type NumberLimits,
  nameOf,
  type ObjectSchema,
  type ReadValue,
  readNode,
  type Schema,
  type SchemaFields,
  type SchemaType,
  schema,
  type TextLimits,
} from './schema.ts'

// Kinds of values that hooks do not have: parameters and results of methods, settings, files of other tools. Programs
// with the engine alone do not carry them.

/** Returns the message about a value that fits its schema otherwise; undefined if it is right. */
type FindProblem<T> = (value: T, name: string) => string | undefined

function readWithCheck<T>(node: Schema<T>, findProblem: FindProblem<T>): ReadValue {
  return (given, path, problems) => {
    const before = problems.length
    const value = readNode(node, given, path, problems)
    // T was inferred from the schema that the value was just checked with.
    const message = problems.length > before ? undefined : findProblem(value as T, nameOf(path))
    if (message !== undefined) problems.push({ path, part: 'value', code: 'config.field', message })
    return value
  }
}

/** Adds a check that the kinds cannot say. */
export function checked<S extends Schema>(node: S, findProblem: FindProblem<SchemaType<S>>): S {
  // Both name the type of the same schema.
  return { ...node, read: readWithCheck(node as Schema<SchemaType<S>>, findProblem) }
}

export function nonEmpty(about?: string): Schema<string> {
  return schema.text(about, { minLength: 1 })
}

/** A text that fits a pattern. `expected` completes the sentence "… must". */
export function textLike(pattern: RegExp, expected: string, limits: TextLimits = {}): Schema<string> {
  const read = readWithCheck(schema.text(undefined, limits), (given, name) =>
    pattern.test(given) ? undefined : `${name} must ${expected}`,
  )
  return { kind: 'text', ...limits, pattern, read }
}

/** A whole number of any size. */
export function wholeNumber(about?: string): Schema<number> {
  const read = readWithCheck(schema.any(), (value, name) =>
    Number.isSafeInteger(value) ? undefined : `${name} must be a whole number`,
  )
  const { MIN_SAFE_INTEGER: min, MAX_SAFE_INTEGER: max } = Number
  return withAbout<Schema<number>>({ kind: 'integer', min, max, read }, about)
}

export function numeric(about?: string, limits: NumberLimits = {}): Schema<number> {
  const { min = Number.NEGATIVE_INFINITY, moreThan = Number.NEGATIVE_INFINITY } = limits
  const read = readWithCheck(schema.any(), (value, name) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return `${name} must be a number`
    if (value < min) return `${name} must be at least ${min}`
    return value > moreThan ? undefined : `${name} must be more than ${moreThan}`
  })
  return withAbout<Schema<number>>({ kind: 'number', ...limits, read }, about)
}

/** Milliseconds since 1970. The command line also accepts `2h` and ISO instants. */
export function instant(): Schema<number> {
  return numeric('Milliseconds since 1970.', { format: 'unix-ms' })
}

/** A list of at most `maxItems` entries. */
export function shortList<T>(item: Schema<T>, maxItems: number, about?: string): Schema<readonly T[]> {
  const read = readWithCheck(schema.list(item), (entries, name) =>
    entries.length > maxItems ? `${name} must have at most ${maxItems} entries` : undefined,
  )
  return withAbout<Schema<readonly T[]>>({ kind: 'list', item, maxItems, read }, about)
}

export function nullable<T>(value: Schema<T>, about = value.about): Schema<T | null> {
  const read: ReadValue = (given, path, problems) =>
    given === null ? null : readNode(value, given, path, problems)
  return withAbout<Schema<T | null>>({ kind: 'nullable', value, read }, about)
}

/** An object with further fields: those that `others` describes, or any that are left out of the copy. */
export function openObject<const F extends SchemaFields>(
  fields: F,
  others: Schema | 'dropped',
  about?: string,
): ObjectSchema<F> {
  const strict = schema.object(fields, about)
  const read: ReadValue = (given, path, problems) => {
    if (!isRecord(given)) return readNode(strict, given, path, problems)
    const { known = [], unknown = [] } = Object.groupBy(Object.entries(given), ([key]) =>
      Object.hasOwn(fields, key) ? 'known' : 'unknown',
    )
    const copy = readNode(strict, Object.fromEntries(known), path, problems)
    if (others === 'dropped') return copy
    const rest = unknown.map(([key, item]) => [key, readNode(others, item, [...path, key], problems)])
    return Object.assign(Object.fromEntries(rest), copy)
  }
  return { ...strict, others, read }
}

/** An object that keeps fields which the schema does not name. */
export function looseObject<const F extends SchemaFields>(
  fields: F,
  about?: string,
): ObjectSchema<F> & Schema<FieldsType<F> & Readonly<Record<string, unknown>>> {
  return openObject(fields, schema.any(), about)
}

/** One of several objects. The field `tag`, a choice, says which, and the problems are those of that object. */
export function tagged<const O extends readonly ObjectSchema[]>(
  tag: string,
  options: O,
): Schema<SchemaType<O[number]>> {
  const tags = options.flatMap(({ fields }) => (fields[tag]?.kind === 'choice' ? fields[tag].values : []))
  const known = looseObject({ [tag]: schema.choice(tags) })
  const read: ReadValue = (given, path, problems) => {
    // Read once: a getter could answer differently the second time.
    const copy = isRecord(given) ? { ...given } : given
    const option = isRecord(copy) ? options.find((_, at) => tags[at] === copy[tag]) : undefined
    return readNode(option ?? known, copy, path, problems)
  }
  return { kind: 'tagged', tag, options, read }
}

/** The same schema with another sentence. */
export function withAbout<S extends Schema>(node: S, about: string | undefined): S {
  return about === undefined ? node : { ...node, about }
}
