import { HookError } from '../engine/core/error.ts'
import type { EngineCode } from '../engine/core/error-table.ts'

/** A text and how far it has been read. */
export interface Reader {
  readonly text: string
  at: number
}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

export function numberAt({ text, at }: Reader): string | undefined {
  numberPattern.lastIndex = at
  return numberPattern.exec(text)?.[0]
}

/** True where JSON.parse would answer another number than the one written. */
export function isInexact(source: string): boolean {
  if (/^-?\d+$/.test(source)) return source.length > 15 && !Number.isSafeInteger(Number(source))
  return !Number.isFinite(Number(source))
}

const escapes = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

export function skipString(reader: Reader): void {
  const { text } = reader
  for (let at = reader.at + 1; ; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      reader.at = at + 1
      return
    }
    if (code === 0x5c) {
      escapes.lastIndex = reader.at = at
      if (!escapes.test(text)) fail(reader, 'input.json', 'an unknown escape')
      at = escapes.lastIndex - 1
    } else if (!(code >= 0x20)) {
      reader.at = at
      fail(reader, 'input.json', at < text.length ? 'a control character in a string' : 'a string has no end')
    }
  }
}

export function skipBlanks(reader: Reader): void {
  const { text } = reader
  for (;;) {
    const code = text.charCodeAt(reader.at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    reader.at++
  }
}

/** Says where, never what stands there: it may be a secret. */
export function fail({ text, at }: Reader, code: EngineCode, what: string): never {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  const where = `line ${line}, column ${column}`
  throw new HookError(code, `${what}: ${where}${at >= text.length ? ', the end of the text' : ''}`, {
    at: where,
  })
}
