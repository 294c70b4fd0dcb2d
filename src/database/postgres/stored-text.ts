/**
 * PostgreSQL cannot store U+0000 and lone surrogates, which texts of agents contain. We write them, and U+0001 itself, as
 * U+0001 and four hex digits, so that every text reads back unchanged.
 */
const MARK = '\u0001'
const LONE_SURROGATES = '[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]'
const SPECIAL = new RegExp(`[\\0${MARK}]|${LONE_SURROGATES}`, 'g')
const MARKED = new RegExp(`${MARK}([0-9a-f]{4})`, 'g')

export function writeText(text: string): string {
  if (text.isWellFormed() && !text.includes('\0') && !text.includes(MARK)) return text
  return text.replace(SPECIAL, (unit) => MARK + unit.charCodeAt(0).toString(16).padStart(4, '0'))
}

export function readText(stored: string): string {
  if (!stored.includes(MARK)) return stored
  return stored.replace(MARKED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** The same for JSON, where those characters are escapes. `\\u0000` is not an escape and stays. */
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
