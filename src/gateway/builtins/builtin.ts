import { v5 } from 'uuid'
import type { HookDefinition } from '../../engine/hook-definition.ts'

/** A hook that comes with the product: one row for each event, with an id that is the same everywhere. */
export interface Builtin {
  readonly name: string
  /** Raised with every change of what it does. */
  readonly version: number
  readonly events: readonly string[]
  readonly isOnByDefault: boolean
  readonly hook: Pick<HookDefinition, 'description' | 'timeout_ms' | 'on_timeout'> & {
    readonly handler_type: 'script'
    readonly priority: number
  }
  readonly source: string
}

const NAMESPACE = '082ab084-a25f-52b4-a4a4-eb8a816bd9a8'

export function builtinId(name: string, event: string): string {
  return v5(`${name}/${event}`, NAMESPACE)
}
