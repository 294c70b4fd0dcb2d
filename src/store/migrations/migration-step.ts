/** The column types of a dialect. */
export interface ColumnTypes {
  readonly id: string
  /** A list of ids. */
  readonly ids: string
  /** Milliseconds, counts and sums. */
  readonly number: string
  readonly real: string
  readonly json: string
  readonly bytes: string
  readonly flag: string
  readonly true: string
  /** Table options for a table whose rows are only found by their key. */
  readonly keyed: string
  /** A primary key that the database counts up. */
  readonly position: string
}

export type MigrationStatement =
  | { readonly kind: 'table'; readonly name: string; readonly columns: string }
  /** A table whose rows are only found by their key; SQLite stores them in the order of the key. */
  | { readonly kind: 'keyed table'; readonly name: string; readonly columns: string }
  | { readonly kind: 'sql'; readonly text: string }

/** One step of the schema. Never change a released step: databases that have it do not run it again. */
export type MigrationStep = (types: ColumnTypes) => readonly MigrationStatement[]
