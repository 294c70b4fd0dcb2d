/**
 * One declaration per stored thing. From it follow the type of its rows, how they are written and read, the tables of both
 * databases, and what concerns all tables: retention, the deletion of a tenant, a change of keys, windows, row security.
 * It imports nothing, so that a declaration costs its readers nothing.
 */

/** What a column holds. Each database has its own type for it. */
export type ColumnKind =
  /** A UUID. */
  | 'id'
  | 'text'
  /** Milliseconds, counts and sums. */
  | 'number'
  | 'real'
  | 'flag'
  | 'json'
  /** A list of texts. */
  | 'list'
  | 'bytes'
  /** A primary key that the database counts up. */
  | 'position'

/** `optional`: absent in a row that has none. `made`: the database gives it. */
type Presence = 'required' | 'nullable' | 'optional' | 'made'
/** How the merge of counted rows treats a column; `newest` and `oldest` keep a value over none. */
export type MergeBy = 'sum' | 'min' | 'max' | 'newest' | 'oldest'

/** `Value` is what a row has, `Stored` what a query sees. Columns that are not `shown` are left out of rows. */
export interface Column<
  Value = unknown,
  P extends Presence = Presence,
  Shown extends boolean = boolean,
  Stored = unknown,
> {
  readonly kind: ColumnKind
  readonly presence: P
  readonly shown: Shown
  /** JSON in a text: a JSON column of PostgreSQL loses the order of keys. */
  readonly isJsonText?: boolean
  readonly words?: readonly string[]
  /** The database checks the words too. A check cannot be changed later. */
  readonly isChecked?: boolean
  /** Sealed, and read as JSON, as text, or by hand. A text whose key is gone reads as `lost`, JSON as null. */
  readonly sealed?: 'json' | 'text' | 'by hand'
  readonly lost?: string
  /** What the column refers to: a table, its column, and what deletion does. */
  readonly references?: string
  readonly merge?: MergeBy
  /** For the compiler only. */
  readonly value?: Value
  readonly stored?: Stored
}

const column = <Value, Stored = Value>(
  kind: ColumnKind,
  more: Partial<Column> = {},
): Column<Value, 'required', true, Stored> =>
  // The compiler knows `value` and `stored` from the type arguments alone.
  ({ kind, presence: 'required', shown: true, ...more }) as Column<Value, 'required', true, Stored>

const id = () => column<string>('id')
/** The tenant that a row belongs to, and with which it is deleted. */
const tenantId = () => column<string>('id', { references: 'tenants (id) on delete cascade' })
const text = () => column<string>('text')
const number = () => column<number>('number')
const real = () => column<number>('real')
const flag = () => column<boolean, unknown>('flag')
const bytes = () => column<Uint8Array>('bytes')
const json = <Value>() => column<Value, unknown>('json')
const jsonText = <Value>() => column<Value, string>('text', { isJsonText: true })
const list = () => column<readonly string[], unknown>('list')
const oneOf = <const Words extends readonly string[]>(words: Words) =>
  column<Words[number]>('text', { words })
const position = (): Column<number, 'made', true, number> => ({
  ...column<number>('position'),
  presence: 'made',
})
/** An object that is encrypted at rest; null if the key is gone. */
function sealedJson(): Column<Readonly<Record<string, unknown>> | null, 'required', true, string>
function sealedJson<Value>(): Column<Value | null, 'required', true, string>
function sealedJson<Value>() {
  return column<Value | null, string>('text', { sealed: 'json' })
}
const sealedText = (lost: string) => column<string>('text', { sealed: 'text', lost })
/** A sealed text that the code which uses it opens. */
const sealedByHand = () => column<string>('text', { sealed: 'by hand' })

const nullable = <V, S extends boolean, D>(
  of: Column<V, 'required', S, D>,
): Column<V | null, 'nullable', S, D | null> => ({ ...of, presence: 'nullable' })
const optional = <V, S extends boolean, D>(
  of: Column<V, 'required', S, D>,
): Column<V, 'optional', S, D | null> => ({ ...of, presence: 'optional' })
/** Only the store knows the column. */
const internal = <V, P extends Presence, D>(of: Column<V, P, boolean, D>): Column<V, P, false, D> => ({
  ...of,
  shown: false,
})
const checked = <C extends Column>(of: C): C => ({ ...of, isChecked: true })
const references = <C extends Column>(of: C, target: string): C => ({ ...of, references: target })
const merged = <C extends Column>(of: C, merge: MergeBy): C => ({ ...of, merge })
/** Numbers that a merge of rows adds up. */
const sums = <const Name extends string>(...names: readonly Name[]) =>
  // `fromEntries` forgets the names.
  Object.fromEntries(names.map((name) => [name, merged(number(), 'sum')])) as {
    readonly [N in Name]: Column<number, 'required', true, number>
  }

/** What makes columns. */
export const columns = {
  ...{ id, tenantId, text, number, real, flag, bytes, json, jsonText, list, oneOf, position },
  ...{
    sealedJson,
    sealedText,
    sealedByHand,
    nullable,
    optional,
    internal,
    checked,
    references,
    merged,
    sums,
  },
}

export type Columns = Readonly<Record<string, Column>>

/** Rows that go: those that match `where`, in which `:before` is a time that `keep` sets. */
export interface Expiry {
  readonly where: string
  /** An index with this order finds the oldest rows first; without one, sorting would read the whole table. */
  readonly order?: string
  /** How long rows stay: as long as the history, as done deliveries, or until the time itself. */
  readonly keep: 'history' | 'done deliveries' | 'none'
  /** Rows of a span stay until the whole span is over. */
  readonly span?: number
}

/** A window that the clock of the store measures. If the clock was ahead when it began, it is shortened. */
export interface Window {
  readonly ends: string
  /** The column with the begin, if the window keeps its own length. Otherwise it lasts at most `within` from now. */
  readonly began?: string
  /** Milliseconds, the name of a longest window, or an expression in SQL. */
  readonly within?: number | 'lease_ms' | 'retry_ms' | 'answer_ms' | 'guard_ms' | { readonly sql: string }
  readonly where?: string
}

interface TableOptions<Name extends string> {
  /** The primary key; the columns of `position()` need none. */
  readonly key?: readonly Name[]
  readonly unique?: readonly (readonly Name[])[]
  /** The columns that name a row in the path of its sealed texts; the key if omitted. */
  readonly identity?: readonly Name[]
  /** Rows are only found by their key; SQLite stores them in its order. */
  readonly isKeyed?: boolean
  /** `name (columns) where condition`, with `unique` before it for a unique index. */
  readonly indexes?: readonly string[]
  readonly foreignKeys?: readonly string[]
  /** PostgreSQL: rows become visible in another order than their positions, so this index lists them by writer. */
  readonly byWriter?: string
  /** PostgreSQL: what other nodes are told when a row is written. */
  readonly notice?: Notice
  readonly expiry?: readonly Expiry[]
  readonly windows?: readonly Window[]
  /** Row security: every tenant may read the rows of the master tenant, or the master tenant write those of all. */
  readonly readByAll?: boolean
  readonly writtenByMaster?: boolean
  /** Deleting a tenant leaves the rows; otherwise they go with it. */
  readonly outlivesTenant?: boolean
}

export interface Notice {
  /** The name of the trigger and of its function. */
  readonly name: string
  readonly channel: string
  /** The text of the notice, of the row `new`. */
  readonly payload: string
  readonly on: string
  readonly when?: string
}

export interface Table<Name extends string = string, C extends Columns = Columns>
  extends TableOptions<string> {
  readonly name: Name
  readonly columns: C
}

export function table<const Name extends string, const C extends Columns>(
  name: Name,
  columns: C,
  options: TableOptions<keyof C & string> = {},
): Table<Name, C> {
  return { name, columns, ...options }
}

type Flat<T> = { [K in keyof T]: T[K] }
export type ColumnsOf<T> = T extends Table<string, infer C> ? C : never
type ValueOf<C> = C extends Column<infer Value, Presence, boolean, unknown> ? Value : never
type ShownOf<C> = { [N in keyof C as C[N] extends { shown: true } ? N : never]: C[N] }
type ValuesOf<C, MayBeAbsent extends Presence> = Flat<
  { readonly [N in keyof C as C[N] extends { presence: MayBeAbsent } ? never : N]: ValueOf<C[N]> } & {
    readonly [N in keyof C as C[N] extends { presence: MayBeAbsent } ? N : never]?: ValueOf<C[N]>
  }
>

/** A row as the rest of the program sees it. */
export type RowOf<T> = ValuesOf<ShownOf<ColumnsOf<T>>, 'optional'>
/** A row with the columns that only the store knows. */
export type WholeRowOf<T> = ValuesOf<ColumnsOf<T>, 'optional'>
type WritableOf<C> = C extends { presence: 'optional' } ? ValueOf<C> | null : ValueOf<C>
/** What can be written to a row. */
export type WritableRowOf<T> = { readonly [N in keyof ColumnsOf<T>]: WritableOf<ColumnsOf<T>[N]> }
type RequiredOf<C> = keyof { [N in keyof C as C[N] extends { presence: 'required' } ? N : never]: true }
/** What inserting a row needs. */
export type NewRowOf<T> = Pick<WritableRowOf<T>, RequiredOf<ColumnsOf<T>>> &
  Partial<Omit<WritableRowOf<T>, RequiredOf<ColumnsOf<T>>>>

/** What a query sees of a column. */
export type StoredValueOf<C> = C extends Column<unknown, Presence, boolean, infer Stored> ? Stored : never

export function columnNames(of: Table): readonly string[] {
  return Object.keys(of.columns)
}

/** The columns that a new row has; the database gives the others. */
export function writtenColumns<const C extends Columns>({
  columns,
}: Table<string, C>): readonly WrittenName<C>[] {
  const names = Object.keys(columns).filter((name) => columns[name]?.presence !== 'made')
  // Objects have no other keys than those of their type here.
  return names as WrittenName<C>[]
}
export type WrittenName<C extends Columns> = keyof {
  [N in keyof C as C[N] extends { presence: 'made' } ? never : N]: true
} &
  string

/** The columns of the primary key. */
export function keyOf({ key, columns }: Table): readonly string[] {
  return key ?? Object.keys(columns).filter((name) => columns[name]?.kind === 'position')
}
