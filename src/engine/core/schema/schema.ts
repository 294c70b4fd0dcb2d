import { nearest } from '../values/nearest.ts'
import { isRecord } from './check.ts'

/** Where in a value: keys and positions from the root. */
export type SchemaPath = readonly (string | number)[]

/** One thing that is wrong with a value. */
export interface SchemaProblem {
  readonly path: SchemaPath
  /** Whether the key is wrong or its value. */
  readonly part: 'key' | 'value'
  readonly code: 'config.field' | 'config.range' | 'config.url'
  readonly message: string
  readonly hint?: string
}

/** A field name → the schema of its value. */
export type SchemaFields = Readonly<Record<string, Schema>>

/** An object with named fields. A field is required unless its schema is optional. */
export interface ObjectNode<F extends SchemaFields = SchemaFields> {
  readonly kind: 'object'
  readonly fields: F
  readonly required: readonly string[]
  /** What other fields hold, or that they are left out of the copy (`openObject`). Without it, they are problems. */
  readonly others?: Schema | 'dropped'
}

/** A kind that the engine cannot read itself. */
interface OwnRead {
  readonly read: ReadValue
}

/** One of several objects. Each has one value of the field `tag`. */
export interface TaggedNode extends OwnRead {
  readonly kind: 'tagged'
  readonly tag: string
  readonly options: readonly ObjectNode[]
}

type SchemaNode =
  | { readonly kind: 'any' }
  | ({ readonly kind: 'text'; readonly isUrl?: true } & TextLimits)
  | ({ readonly kind: 'number' } & NumberLimits & OwnRead)
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'scalar' }
  | {
      readonly kind: 'choice'
      readonly values: readonly Choice[]
      readonly aliases?: Readonly<Record<string, Choice>>
    }
  | ({ readonly kind: 'list'; readonly item: Schema } & ListLimits)
  | { readonly kind: 'map'; readonly value: Schema }
  | ObjectNode
  | {
      readonly kind: 'union'
      readonly options: readonly Schema[]
      readonly expected: string
    }
  | TaggedNode
  | ({ readonly kind: 'nullable'; readonly value: Schema } & OwnRead)

type Choice = string | number | boolean
/** Returns the copy of a value, and adds what is wrong with it to `problems`. */
export type ReadValue = (given: unknown, path: SchemaPath, problems: SchemaProblem[]) => unknown

/**
 * The shape of a value as data. One declaration gives the check, the TypeScript type, the JSON Schema, the table in
 * the docs, the flag of the command line and the form in the web app. `T` exists for the compiler only.
 */
export type Schema<T = unknown> = SchemaNode & {
  /** One sentence for docs, editors and forms. */
  readonly about?: string
  /** The object that has the field may lack it. */
  readonly isOptional?: true
  /** Reads a value in place of the engine, which has only what hooks need (`more-schemas.ts`). */
  readonly read?: ReadValue
  readonly type?: T
}

/** The type of the values that a schema accepts. */
export type SchemaType<S> = S extends { readonly type?: infer T } ? Exclude<T, undefined> : never
/** The schema of a field that an object may lack. */
export type Optional<S> = S & { readonly isOptional: true }
type OptionalKey<F> = { [K in keyof F]: F[K] extends { readonly isOptional: true } ? K : never }[keyof F]
type Flat<T> = { [K in keyof T]: T[K] }
/** The object that a set of fields describes. */
export type FieldsType<F extends SchemaFields> = Flat<
  { readonly [K in Exclude<keyof F, OptionalKey<F>>]: SchemaType<F[K]> } & {
    readonly [K in OptionalKey<F>]?: SchemaType<F[K]>
  }
>

export interface TextLimits {
  readonly minLength?: number
  readonly maxLength?: number
  /** Checked by `textLike`. */
  readonly pattern?: RegExp
  /** For editors only. */
  readonly format?: 'uri' | 'email'
}

export interface NumberLimits {
  readonly format?: 'unix-ms'
  readonly min?: number
  readonly moreThan?: number
}

interface ListLimits {
  readonly minItems?: number
  /** Checked by `shortList`. */
  readonly maxItems?: number
}

/** Functions that make schemas. */
export const schema = {
  any: (about?: string): Schema<unknown> => described({ kind: 'any' }, about),
  text: (about?: string, limits: Omit<TextLimits, 'pattern'> = {}): Schema<string> =>
    described({ kind: 'text', ...limits }, about),
  /** The text of a URL; its problems have the code `config.url`. The handler decides which URLs it accepts. */
  url: (about?: string): Schema<string> => described({ kind: 'text', isUrl: true }, about),
  integer: (min: number, max: number, about?: string): Schema<number> =>
    described({ kind: 'integer', min, max }, about),
  boolean: (about?: string): Schema<boolean> => described({ kind: 'boolean' }, about),
  /** Text, a number, true, false or null. */
  scalar: (about?: string): Schema<string | number | boolean | null> => described({ kind: 'scalar' }, about),
  /** `aliases` are further spellings that are read as one of the values. */
  choice: <const V extends readonly Choice[]>(
    values: V,
    about?: string,
    aliases?: Readonly<Record<string, V[number]>>,
  ): Schema<V[number]> => described({ kind: 'choice', values, ...(aliases && { aliases }) }, about),
  list: <T>(
    item: Schema<T>,
    about?: string,
    limits: Pick<ListLimits, 'minItems'> = {},
  ): Schema<readonly T[]> => described({ kind: 'list', item, ...limits }, about),
  map: <T>(value: Schema<T>, about?: string): Schema<Readonly<Record<string, T>>> =>
    described({ kind: 'map', value }, about),
  object: <const F extends SchemaFields>(fields: F, about?: string): ObjectSchema<F> => ({
    kind: 'object',
    fields,
    required: Object.keys(fields).filter((name) => !fields[name]?.isOptional),
    ...(about && { about }),
  }),
  /** A field that its object may lack. */
  optional: <S extends Schema>(field: S): Optional<S> => ({ ...field, isOptional: true }),
  /** Fields that their object may all lack. */
  partial: <const F extends SchemaFields>(fields: F): { readonly [K in keyof F]: Optional<F[K]> } => {
    const made = Object.entries(fields).map(([name, field]) => [name, schema.optional(field)])
    // Object.fromEntries loses the keys, which are those of `fields`.
    return Object.fromEntries(made) as { readonly [K in keyof F]: Optional<F[K]> }
  },
  /** `expected` completes the sentence "… must be". */
  union: <const O extends readonly Schema[]>(
    options: O,
    expected: string,
    about?: string,
  ): Schema<SchemaType<O[number]>> => described({ kind: 'union', options, expected }, about),
}

/** An object schema that keeps its fields, so that others can be built from it. */
export interface ObjectSchema<F extends SchemaFields = SchemaFields> extends ObjectNode<F> {
  readonly about?: string
  readonly isOptional?: true
  readonly read?: ReadValue
  readonly type?: FieldsType<F>
}

function described<T>(node: SchemaNode, about: string | undefined): Schema<T> {
  return about === undefined ? node : { ...node, about }
}

/**
 * Checks a value and returns a copy in which aliases are replaced and fields without a value are gone. With problems
 * the copy is not to be used. Each property is read once: a getter cannot show the check one value and the caller another.
 */
export function readSchema<T>(
  shape: Schema<T>,
  given: unknown,
): { readonly value: T; readonly problems: readonly SchemaProblem[] } {
  const problems: SchemaProblem[] = []
  const value = readNode(shape, given, [], problems)
  // T was inferred from the schema that the value was checked with.
  return { value: value as T, problems }
}

/** Reads one value; adds what is wrong with it to `problems`. */
export function readNode(node: Schema, given: unknown, path: SchemaPath, problems: SchemaProblem[]): unknown {
  if (node.read) return node.read(given, path, problems)
  const refuse = (expected: string, code: SchemaProblem['code'] = 'config.field'): undefined => {
    problems.push({ path, part: 'value', code, message: `${nameOf(path)} must ${expected}` })
    return undefined
  }
  switch (node.kind) {
    case 'any':
      return given
    case 'text':
      if (typeof given !== 'string') return refuse('be text', fieldCode(node))
      if (given.length < (node.minLength ?? 0)) return refuse('not be empty')
      if (given.length > (node.maxLength ?? Number.POSITIVE_INFINITY))
        return refuse(`have at most ${node.maxLength} characters`, 'config.range')
      return given
    case 'integer':
      if (Number.isInteger(given) && Number(given) >= node.min && Number(given) <= node.max) return given
      return refuse(
        node.min === node.max ? `be ${node.min}` : `be a whole number from ${node.min} to ${node.max}`,
        'config.range',
      )
    case 'boolean':
      return typeof given === 'boolean' ? given : refuse('be true or false')
    case 'scalar':
      return isScalar(given) ? given : refuse('be text, a number, true, false or null')
    case 'choice': {
      const alias = typeof given === 'string' && node.aliases !== undefined
      const value = alias && Object.hasOwn(node.aliases, given) ? node.aliases[given] : given
      if (node.values.some((known) => known === value)) return value
      return refuse(`be ${node.values.length > 1 ? 'one of ' : ''}${node.values.join(', ')}`)
    }
    case 'list': {
      if (!Array.isArray(given)) return refuse('be a list')
      if (given.length < (node.minItems ?? 0)) return refuse('not be empty')
      return given.map((item: unknown, index) => readNode(node.item, item, [...path, index], problems))
    }
    case 'map': {
      if (!isRecord(given)) return refuse('be an object')
      const items = Object.entries(given).map(([key, item]) => [
        key,
        readNode(node.value, item, [...path, key], problems),
      ])
      return Object.fromEntries(items)
    }
    case 'object':
      return isRecord(given) ? readFields(node, given, path, problems) : refuse('be an object')
    case 'union': {
      for (const option of node.options) {
        const { value, problems: found } = readSchema(option, given)
        if (found.length === 0) return value
      }
      return refuse(`be ${node.expected}`)
    }
  }
}

function readFields(
  { fields, required }: ObjectNode,
  given: Record<string, unknown>,
  path: SchemaPath,
  problems: SchemaProblem[],
): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(given)) {
    if (item === undefined) continue
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (field === undefined) problems.push(unknownField([...path, key], Object.keys(fields)))
    else copy[key] = readNode(field, item, [...path, key], problems)
  }
  for (const key of required) {
    if (Object.hasOwn(given, key) && given[key] !== undefined) continue
    const message = `${key} is required`
    problems.push({ path: [...path, key], part: 'value', code: fieldCode(fields[key]), message })
  }
  return copy
}

/** The code of a field that is missing or has the wrong type. */
function fieldCode(field: Schema | undefined): 'config.field' | 'config.url' {
  return field?.kind === 'text' && field.isUrl ? 'config.url' : 'config.field'
}

function unknownField(path: SchemaPath, known: readonly string[]): SchemaProblem {
  const key = String(path.at(-1))
  const near = nearest(key, known)
  return {
    path,
    part: 'key',
    code: 'config.field',
    message: `there is no field ${key.slice(0, 80)}`,
    hint: near === undefined ? `The fields are ${known.join(', ')}.` : `Did you mean ${near}?`,
  }
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

export function nameOf(path: SchemaPath): string {
  const last = path.at(-1)
  if (last === undefined) return 'the value'
  return typeof last === 'number' ? `entry ${last + 1} of ${String(path.at(-2) ?? 'the list')}` : last
}
