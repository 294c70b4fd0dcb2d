import { visibleLine } from '../../../../src/engine/core/values/visible-text.ts'

/**
 * A cell of one line. Spreadsheets run what begins like a formula, and depending on the locale a cell begins after a comma,
 * a semicolon, a tab or a bar, whether it is quoted or not. An apostrophe makes it text.
 */
export function csvCell(value: unknown): string {
  if (typeof value !== 'string') return value === null || value === undefined ? '' : String(value)
  const safe = visibleLine(value).replace(/(^|[,;|])(["'\s]*)(?=[=+\-@|%＝＋－＠])/gu, "$1$2'")
  return `"${safe.replaceAll('"', '""')}"`
}
