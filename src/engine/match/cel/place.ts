import { HookError } from '../../core/error.ts'
import type { Expr, SourceInfo } from './load.ts'

/** Line and column, both from 1, as editors count. */
export function placeAt(source: string, offset: number): string {
  const before = source.slice(0, offset).split('\n')
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
}

/** Knows where in the text a node stands. */
export class Places {
  readonly #source: string
  readonly #info: SourceInfo

  constructor(source: string, info: SourceInfo) {
    this.#source = source
    this.#info = info
  }

  of(id: bigint): string {
    return placeAt(this.#source, this.#info?.positions[id.toString()] ?? 0)
  }

  typeError(node: Expr, why: string, hint?: string): HookError {
    const place = this.of(node.id)
    const at = `if_expr:${place}`
    return new HookError(
      'match.cel_type',
      `if_expr at ${place}: ${why}`,
      hint === undefined ? { at } : { at, hint },
    )
  }
}
