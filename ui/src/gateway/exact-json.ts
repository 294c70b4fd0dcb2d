/** A number of which JavaScript would round the digits. It is printed and sent as it was received or typed. */
class ExactNumber {
  readonly #digits: string

  constructor(digits: string) {
    this.#digits = digits
  }

  toJSON(): unknown {
    return rawJSON?.(this.#digits) ?? Number(this.#digits)
  }

  toString(): string {
    return this.#digits
  }
}

/** Not yet in every browser, nor in the compiler's library. */
const { rawJSON } = JSON as unknown as { readonly rawJSON?: (source: string) => unknown }

/** Parses JSON. People approve exactly what they see, so large numbers keep their digits. */
export function parseExactJson(text: string): unknown {
  return /\d{16}/.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  const isRounded = typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source)
  return isRounded && !Number.isSafeInteger(value) ? new ExactNumber(source) : value
}
