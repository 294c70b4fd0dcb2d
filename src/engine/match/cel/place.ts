import { HookError } from '../../core/error.ts'
import type { Expr, SourceInfo } from './load.ts'

/** Knows where in the text a node stands. */
export interface Places {
  of(id: bigint): string
  typeError(node: Expr, why: string, hint?: string): HookError
}

/** Line and column, both from 1, as editors count. */
export function placeAt(source: string, offset: number): string {
  const before = source.slice(0, offset).split('\n')
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`
}

export function placesIn(source: string, info: SourceInfo): Places {
  const of = (id: bigint): string => placeAt(source, info?.positions[id.toString()] ?? 0)
  return {
    of,
    typeError(node, why, hint) {
      const place = of(node.id)
      const at = `if_expr:${place}`
      const options = hint === undefined ? { at } : { at, hint }
      return new HookError('match.cel_type', `if_expr at ${place}: ${why}`, options)
    },
  }
}
