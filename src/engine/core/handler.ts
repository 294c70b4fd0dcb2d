import type { HookContext } from './context.ts'
import type { ErrorCode } from './error-table.ts'
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
  /** The code of a missed deadline, where the type has one of its own. */
  readonly timeoutCode?: ErrorCode
  /** Turns the `config` of a definition into what `run` gets, or throws a coded error. */
  read(config: unknown, hook: HookDefinition): Config
  /**
   * Answers what a function hook may answer. A coded error keeps its code; `handler.result` means that there was an
   * answer but nobody can read it, so `on_invalid` decides rather than `on_error`.
   */
  run(call: HandlerCall<Config>): unknown
}
