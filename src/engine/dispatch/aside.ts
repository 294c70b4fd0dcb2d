import type { CompiledHook } from './compiled-hook.ts'
import type { Dispatch } from './dispatch.ts'
import type { Protocol } from './protocol.ts'

/**
 * What only few dispatches need. Kept apart, because every field of a dispatch is paid for by all of them. A dispatch
 * that goes on after a deadline passes it to its heir.
 */
export class Aside {
  id: string | undefined
  time: number | undefined
  /** The payload before the first rewrite, and whether there was one. */
  original: unknown
  rewritten = false
  /** Which input each hook passed; kept only for hooks that must vouch for the final one. */
  readonly passed = new Map<CompiledHook, unknown>()
  /** Hooks that were called; their guards let them through and are not asked again. */
  readonly fired = new Set<CompiledHook>()
  secondPass = false
  protocol: Protocol | undefined
  wantsTrace = false
  startedAt = 0
  /** How long all of it took, once it is over and somebody measured. */
  durationMs = 0
  /** What the running hook reported so far. */
  facts: Readonly<Record<string, unknown>> | undefined
  /** Hooks that run beside the answer. */
  readonly children: Dispatch[] = []
  /** Where the dispatch went on after a deadline passed. */
  heir: Dispatch | undefined
  unlisten: (() => void) | undefined
}
