import type { Column, ColumnKind, Table } from './table.ts'

/** How a database spells a schema. */
export interface SchemaDialect {
  readonly types: Readonly<Record<ColumnKind, string>>
  readonly true: string
  /** The options of a table whose rows are only found by their key. */
  readonly keyed: string
  /** What only this database needs of a table. */
  more(table: Table): readonly string[]
}

/** The statements that create a table with its indexes. */
export function createTable(table: Table, dialect: SchemaDialect): readonly string[] {
  const { name, columns, key = [], unique = [], foreignKeys = [], indexes = [] } = table
  const lines = [
    ...Object.entries(columns).map(([column, of]) => columnLine(column, of, key.join() === column, dialect)),
    ...(key.length > 1 ? [`primary key (${key.join(', ')})`] : []),
    ...unique.map((names) => `unique (${names.join(', ')})`),
    ...foreignKeys.map((text) => `foreign key ${text}`),
  ]
  const options = table.isKeyed ? ` ${dialect.keyed}` : ''
  return [
    `create table ${name} (\n  ${lines.join(',\n  ')}\n)${options}`.trimEnd(),
    ...indexes.map((index) => createIndex(name, index.replaceAll(':true', dialect.true))),
    ...dialect.more(table),
  ]
}

function columnLine(name: string, column: Column, isKey: boolean, { types }: SchemaDialect): string {
  const { kind, presence, words: allowed = [], isChecked, references } = column
  if (kind === 'position') return `${name} ${types.position}`
  const isNull = presence === 'nullable' || presence === 'optional'
  return [
    `${name} ${types[kind]}`,
    ...(isKey ? ['primary key'] : isNull ? [] : ['not null']),
    ...(isChecked ? [`check (${name} in (${allowed.map((word) => `'${word}'`).join(', ')}))`] : []),
    ...(references === undefined ? [] : [`references ${references}`]),
  ].join(' ')
}

/** From `name (columns) where condition`, with `unique` before it for a unique index. */
function createIndex(table: string, text: string): string {
  const [, unique = '', name, rest] = /^(unique )?(\w+) (.*)$/.exec(text) ?? []
  return `create ${unique}index ${name} on ${table} ${rest}`
}
