const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
}

const escapes =
  /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c([\s\S])|([\s\S]))/g

/** The value of `$'…'`; undefined if the bytes are no text that we can be certain of. */
export function decodeAnsiC(source: string): string | undefined {
  const text = decodeEscapes(source)
  // A NUL ends the string.
  return text?.split('\0', 1)[0]
}

/** Replaces the escapes of `$'…'` and `printf`, which prints a NUL. */
export function decodeEscapes(source: string): string | undefined {
  let certain = true
  const text = source.replace(escapes, (whole, octal, hex, short, long, control, other) => {
    if (control !== undefined) return String.fromCharCode(String(control).charCodeAt(0) & 31)
    if (other !== undefined) return simpleEscapes[other] ?? whole
    const code =
      octal === undefined ? Number.parseInt(hex ?? short ?? long, 16) : Number.parseInt(octal, 8) & 255
    const isByte = octal !== undefined || hex !== undefined
    if ((isByte && code > 0x7f) || code > 0x10ffff) {
      certain = false
      return ''
    }
    return String.fromCodePoint(code)
  })
  return certain ? text : undefined
}
