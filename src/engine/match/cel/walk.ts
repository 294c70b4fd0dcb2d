import type { Expr } from './load.ts'
import type { Places } from './place.ts'

/** The name of a CEL type; `dyn` where only the payload knows. */
export type Type = string

/** Where a check of an expression stands, and what it has seen. */
export interface Walk {
  readonly places: Places
  readonly typeOf: (walk: Walk, node: Expr) => Type
  /** Variables of comprehensions. */
  readonly scope: ReadonlyMap<string, Type>
  /** Inside a comprehension. */
  readonly folding: boolean
  readonly seen: {
    readonly variables: Set<string>
    /** How many nodes are evaluated once per entry of a list. */
    foldSize: number
  }
}
