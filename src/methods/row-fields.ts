import { type Column, columnNames, type RowOf, type Table } from '../database/table.ts'
import { nullable, numeric, withAbout } from '../engine/core/schema/more-schemas.ts'
import {
  type FieldsType,
  type ObjectSchema,
  type Optional,
  type Schema,
  type SchemaFields,
  schema,
} from '../engine/core/schema/schema.ts'
import { jsonObject } from './method-fields.ts'

/** The fields of a result that shows rows of a table. */
type RowFields<Row, Hidden> = {
  readonly [N in keyof Row as Exclude<N, Hidden>]-?: undefined extends Row[N]
    ? Optional<Schema<Exclude<Row[N], undefined>>>
    : Schema<Row[N]>
}

/**
 * The columns that rows of a table show, as fields of a result, without those that callers need not know. `about` has
 * sentences for columns whose names do not tell enough.
 */
export function rowFields<T extends Table, const Hidden extends keyof RowOf<T> & string>(
  table: T,
  hidden: readonly Hidden[],
  about: { readonly [N in Exclude<keyof RowOf<T>, Hidden>]?: string } = {},
): RowFields<RowOf<T>, Hidden> {
  const sentences: Readonly<Record<string, string | undefined>> = about
  const isHidden = (name: string) => hidden.some((each) => each === name)
  const fields = columnNames(table).flatMap((name) => {
    const column = table.columns[name]
    if (column?.shown !== true || isHidden(name)) return []
    return [[name, withAbout(columnSchema(column), sentences[name])]]
  })
  // `RowOf` follows from the same columns.
  return Object.fromEntries(fields)
}

function columnSchema(column: Column): Schema {
  const value = valueSchema(column)
  if (column.presence === 'optional') return schema.optional(value)
  return column.presence === 'nullable' || column.sealed === 'json' ? nullable(value) : value
}

function valueSchema({ kind, words, isJsonText, sealed }: Column): Schema {
  if (words !== undefined) return schema.choice(words)
  if (kind === 'json' || isJsonText || sealed === 'json') return jsonObject()
  if (kind === 'flag') return schema.boolean()
  if (kind === 'list') return schema.list(schema.text())
  return kind === 'id' || kind === 'text' ? schema.text() : numeric()
}

/** A result with the fields that its schema names, of a row that may have more. */
export function toResult<F extends SchemaFields>(
  { fields }: ObjectSchema<F>,
  row: FieldsType<F>,
): FieldsType<F> {
  const named = Object.entries(row).filter(([name]) => Object.hasOwn(fields, name))
  // The type of the row has all that the schema requires.
  return Object.fromEntries(named) as FieldsType<F>
}
