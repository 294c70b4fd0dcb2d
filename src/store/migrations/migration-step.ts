import type { Kysely } from 'kysely'

/** What the columns are called in a dialect. */
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
  /** Behind a table whose rows are found by their key only. */
  readonly keyed: string
  /** A primary key that counts upwards by itself. */
  readonly position: string
}

export interface MigrationKit {
  readonly types: ColumnTypes
  /** Called for each new table at the end of its step, in the same transaction: row-level security and grants. */
  secure(db: Kysely<unknown>, table: string): Promise<void>
}

export type Statement =
  | { readonly kind: 'table'; readonly name: string; readonly columns: string }
  /** A table whose rows are found by their key only; SQLite keeps them in the order of the key. */
  | { readonly kind: 'keyed table'; readonly name: string; readonly columns: string }
  | { readonly kind: 'sql'; readonly text: string }

/** One step of the schema. It is never changed once it was released: a database that has it does not run it again. */
export type Step = (types: ColumnTypes) => readonly Statement[]
