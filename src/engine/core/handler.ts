import type { HookContext } from './context.ts'
import type { ErrorCode } from './error-table.ts'
import type { BaseHook } from './hook.ts'
import type { Schema } from './schema.ts'

/** What your program offers to handlers. A handler throws a coded error if it needs a part that is missing. */
export interface Host {
  readonly startAgent?: (request: unknown, signal: AbortSignal) => Promise<unknown>
  readonly notify?: (request: unknown, signal: AbortSignal) => Promise<unknown>
  readonly warm?: (request: unknown, signal: AbortSignal) => Promise<unknown>
  readonly ask?: (request: unknown, signal: AbortSignal) => Promise<unknown>
  readonly evaluate?: (request: unknown, signal: AbortSignal) => Promise<unknown>
}

/** One run of a handler. */
export interface HandlerCall<Config> {
  /** What `read` returned for the hook. */
  readonly config: Config
  /** The payload of the event, frozen. */
  readonly payload: unknown
  readonly context: HookContext
  /** What the program passed to `createHooks`. */
  readonly host: Host
  /** The definition of the hook. */
  readonly hook: BaseHook
}

/** What a hook runs. `Settings` is the `config` of a hook as it is written, `Config` what `run` gets. */
export interface Handler<Config = unknown, Settings = unknown> {
  /** The `handler_type` of the hooks that it runs. */
  readonly type: string
  /** The shape of `config`. The engine checks it before `read`; docs, editors and forms are made from it. */
  readonly schema?: Schema<Settings>
  /** The code of a missed deadline, if the type has one of its own. */
  readonly timeoutCode?: ErrorCode
  /** Prepares the `config` of a hook for `run` when the hook is registered; throws a coded error for a bad one. */
  read(config: Settings, hook: BaseHook): Config
  /**
   * Returns what a function hook may return. A coded error keeps its code; `handler.result` means that there was an
   * answer that cannot be read, so that `on_invalid` applies and not `on_error`.
   */
  run(call: HandlerCall<Config>): unknown
}
