import type { HookContext } from './context.ts'
import type { HookDefinition } from './hook.ts'

/** What the embedding program lends to handlers. Each part is optional; a handler says what it misses. */
export interface Host {
  readonly startAgent?: (request: unknown, signal: AbortSignal) => Promise<unknown>
  readonly notify?: (request: unknown, signal: AbortSignal) => Promise<unknown>
  readonly warm?: (request: unknown, signal: AbortSignal) => Promise<unknown>
  readonly ask?: (request: unknown, signal: AbortSignal) => Promise<unknown>
  readonly evaluate?: (request: unknown, signal: AbortSignal) => Promise<unknown>
}

export interface HandlerCall<Config> {
  readonly config: Config
  readonly payload: unknown
  readonly context: HookContext
  readonly host: Host
  readonly hook: HookDefinition
}

/** What a hook runs. One file implements one type. */
export interface Handler<Config = unknown> {
  readonly type: string
  /** Turns the `config` of a definition into what `run` gets, or throws a coded error. */
  read(config: unknown, hook: HookDefinition): Config
  run(call: HandlerCall<Config>): unknown
}
