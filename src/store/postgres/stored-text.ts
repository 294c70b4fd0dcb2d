/**
 * PostgreSQL stores any text but U+0000 and halves of surrogate pairs; texts of agents hold both. They are written as
 * U+0001 and four hex digits, and U+0001 itself likewise, so that every text reads back as it was.
 */
const MARK = '\u0001'
const HALVES = '[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]'
const SPECIAL = new RegExp(`[\\0${MARK}]|${HALVES}`, 'g')
const MARKED = new RegExp(`${MARK}([0-9a-f]{4})`, 'g')

export function writeText(text: string): string {
  if (text.isWellFormed() && !text.includes('\0') && !text.includes(MARK)) return text
  return text.replace(SPECIAL, (unit) => MARK + unit.charCodeAt(0).toString(16).padStart(4, '0'))
}

export function readText(stored: string): string {
  if (!stored.includes(MARK)) return stored
  return stored.replace(MARKED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** The same in JSON, where those characters stand as escapes. Escapes are taken one by one, so `\\u0000` stays text. */
export function writeJson(value: unknown): string {
  return escapeJson(JSON.stringify(value))
}

export function escapeJson(json: string): string {
  if (!/\\u(?:000[01]|d)/.test(json)) return json
  return json.replace(/\\(?:u(0000|0001|d[89a-f][0-9a-f]{2})|.)/g, (found, hex?: string) =>
    hex === undefined ? found : `\\u0001${hex}`,
  )
}

export function readJson(stored: string): unknown {
  if (!stored.includes('\\u0001')) return JSON.parse(stored)
  return JSON.parse(
    stored.replace(/\\(?:u0001([0-9a-f]{4})|.)/g, (found, hex?: string) =>
      hex === undefined ? found : `\\u${hex}`,
    ),
  )
}
