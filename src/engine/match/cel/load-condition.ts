import { loadOwnModule } from '../../core/values/load-own-module.ts'
import type { MatchPart } from '../match-part.ts'

let loaded: typeof import('./condition.ts') | undefined

/**
 * `if_expr`: a condition in the Common Expression Language. What compiles it is loaded with the first one, like the library of
 * CEL itself, so that a program without conditions does not carry it.
 */
export function lazyConditionPart(source: string): MatchPart {
  loaded ??= loadOwnModule<typeof import('./condition.ts')>(import.meta.url, './condition')
  return loaded.conditionPart(source)
}
