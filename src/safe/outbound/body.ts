import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { HookError } from '../../engine/core/error.ts'

type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const decoders: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
}

/** Gathers a body as it comes, and refuses it as soon as it is too large. */
export class Body {
  readonly #max: number
  readonly #chunks: Buffer[] = []
  #size = 0

  constructor(max: number, declared: unknown) {
    this.#max = max
    if (Number(declared ?? 0) > max) throw tooLarge(max)
  }

  add(chunk: Buffer): void {
    this.#size += chunk.length
    if (this.#size > this.#max) throw tooLarge(this.#max)
    this.#chunks.push(chunk)
  }

  /** All of it, decoded. What a bomb would become counts too, and it stops growing at the limit. */
  bytes(contentEncoding: unknown): Buffer | Promise<Buffer> {
    const [first] = this.#chunks
    const bytes =
      first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks, this.#size)
    const encoding = String(contentEncoding ?? '')
      .trim()
      .toLowerCase()
    return encoding === '' || encoding === 'identity' ? bytes : decoded(bytes, encoding, this.#max)
  }
}

async function decoded(bytes: Buffer, encoding: string, max: number): Promise<Buffer> {
  const decode = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined
  if (decode === undefined)
    throw new HookError('outbound.decode', 'the answer has an unknown content encoding')
  // An answer without a body may well name an encoding.
  if (bytes.length === 0) return bytes
  try {
    return await decode(bytes, { maxOutputLength: max })
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(max)
    throw new HookError('outbound.decode', 'the answer could not be decoded', { cause })
  }
}

function tooLarge(max: number): HookError {
  return new HookError('outbound.too_large', `the answer has more than ${max} bytes`)
}
