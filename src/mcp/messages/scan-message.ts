/** The top-level keys of a JSON-RPC message, found without parsing the values. */
export type ScannedMessage =
  | { readonly kind: 'list' }
  | {
      readonly kind: 'message'
      /** The parsed id, or undefined. */
      readonly id: unknown
      /** The parsed method, or undefined. */
      readonly method: unknown
      /** Has a result or an error. */
      readonly isResponse: boolean
    }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN = 0x7b
const CLOSE = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const UNREADABLE = -1

/** Returns undefined for what is neither an object nor an array, is incomplete, or has one of the scanned keys twice. */
export function scanMessage(bytes: Buffer): ScannedMessage | undefined {
  const start = skipBlanks(bytes, startOf(bytes))
  if (bytes[start] === OPEN_LIST) return { kind: 'list' }
  if (bytes[start] !== OPEN) return undefined
  const found = new Map<string, Buffer>()
  const end = scanMembers(bytes, start, (key, value) => {
    if (!scannedKeys.has(key)) return true
    if (found.has(key)) return false
    found.set(key, value)
    return true
  })
  if (end === UNREADABLE || skipBlanks(bytes, end) !== bytes.length) return undefined
  const [id, method] = [found.get('id'), found.get('method')]
  return {
    kind: 'message',
    id: id === undefined ? undefined : parsed(id),
    method: method === undefined ? undefined : parsed(method),
    isResponse: found.has('result') || found.has('error'),
  }
}

const scannedKeys = new Set(['id', 'method', 'result', 'error'])

/** Whether a lenient JSON parser could read the bytes as a message. */
export function looksLikeJson(bytes: Buffer): boolean {
  const first = bytes[skipBlanks(bytes, startOf(bytes))]
  return first === OPEN || first === OPEN_LIST
}

export function isBlank(bytes: Buffer): boolean {
  return skipBlanks(bytes, 0) === bytes.length
}

/** Returns the bytes of each item of a JSON array, or undefined if the bytes are not one. */
export function splitArray(bytes: Buffer): Buffer[] | undefined {
  let at = skipBlanks(bytes, startOf(bytes))
  if (bytes[at] !== OPEN_LIST) return undefined
  at = skipBlanks(bytes, at + 1)
  const items: Buffer[] = []
  if (bytes[at] === CLOSE_LIST) return items
  for (;;) {
    const end = skipValue(bytes, at)
    if (end === UNREADABLE) return undefined
    items.push(bytes.subarray(at, end))
    at = skipBlanks(bytes, end)
    if (bytes[at] === CLOSE_LIST) return skipBlanks(bytes, at + 1) === bytes.length ? items : undefined
    if (bytes[at] !== COMMA) return undefined
    at = skipBlanks(bytes, at + 1)
  }
}

/** Passes each member of an object to `take`. Returns the end of the object. */
function scanMembers(bytes: Buffer, start: number, take: (key: string, value: Buffer) => boolean): number {
  let at = skipBlanks(bytes, start + 1)
  if (bytes[at] === CLOSE) return at + 1
  for (;;) {
    if (bytes[at] !== QUOTE) return UNREADABLE
    const keyEnd = skipString(bytes, at)
    if (keyEnd === UNREADABLE) return UNREADABLE
    const key = keyText(bytes.subarray(at, keyEnd))
    at = skipBlanks(bytes, keyEnd)
    if (bytes[at] !== COLON) return UNREADABLE
    at = skipBlanks(bytes, at + 1)
    const end = skipValue(bytes, at)
    if (end === UNREADABLE || !take(key, bytes.subarray(at, end))) return UNREADABLE
    at = skipBlanks(bytes, end)
    if (bytes[at] === CLOSE) return at + 1
    if (bytes[at] !== COMMA) return UNREADABLE
    at = skipBlanks(bytes, at + 1)
  }
}

function keyText(quoted: Buffer): string {
  if (!quoted.includes(BACKSLASH)) return quoted.toString('latin1', 1, quoted.length - 1)
  const key = parsed(quoted)
  return typeof key === 'string' ? key : ''
}

function skipValue(bytes: Buffer, start: number): number {
  const first = bytes[start]
  if (first === QUOTE) return skipString(bytes, start)
  if (first !== OPEN && first !== OPEN_LIST) return skipWord(bytes, start)
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      const end = skipString(bytes, at)
      if (end === UNREADABLE) return UNREADABLE
      at = end - 1
    } else if (byte === OPEN || byte === OPEN_LIST) depth++
    else if ((byte === CLOSE || byte === CLOSE_LIST) && --depth === 0) return at + 1
  }
  return UNREADABLE
}

/** Byte by byte: JSON inside a string has a quote every few bytes, and `indexOf` for each costs ten times as much. */
function skipString(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE) return at + 1
  }
  return UNREADABLE
}

/** A number, true, false or null. */
function skipWord(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && isWord(bytes[at] ?? 0)) at++
  return at === start ? UNREADABLE : at
}

function isWord(byte: number): boolean {
  return byte > 0x20 && byte !== COMMA && byte !== CLOSE && byte !== CLOSE_LIST && byte !== COLON
}

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from
  while (isBlankByte(bytes[at])) at++
  return at
}

function isBlankByte(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d
}

/** Skips a byte order mark. */
function startOf(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
