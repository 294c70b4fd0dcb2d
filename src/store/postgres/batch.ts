import { asParameter } from './client-dialect.ts'

/** Rows as the parameters of one `unnest`: an array per column. */
export function batch<Row extends object>(rows: readonly Row[], columns: readonly (keyof Row)[]): unknown[] {
  return columns.map((column) => rows.map((row) => asParameter(row[column])))
}
