import type { HookContext } from './context.ts'
import type { ErrorCode } from './errors/error-table.ts'
import type { BaseHook } from './hook.ts'
import type {
  AgentAnswer,
  AskReply,
  AskRequest,
  EvaluateReply,
  EvaluateRequest,
  LaunchedAgent,
  NotifyReply,
  NotifyRequest,
  StartAgentRequest,
  WarmReply,
  WarmRequest,
} from './host.ts'
import type { Schema } from './schema/schema.ts'

/** Functions of the embedding program for handlers. All are optional; a handler that needs a missing one fails. */
export interface Host {
  /** Starts an agent and resolves with its answer, or with `LaunchedAgent` for `run_in_background`. */
  readonly startAgent?: (
    request: StartAgentRequest,
    signal: AbortSignal,
  ) => Promise<AgentAnswer | LaunchedAgent>
  /** Sends a message to a team. */
  readonly notify?: (request: NotifyRequest, signal: AbortSignal) => Promise<NotifyReply>
  /** Prepares remote capacity. */
  readonly warm?: (request: WarmRequest, signal: AbortSignal) => Promise<WarmReply>
  /** Asks a person for an approval. */
  readonly ask?: (request: AskRequest, signal: AbortSignal) => Promise<AskReply>
  /** Asks a model. */
  readonly evaluate?: (request: EvaluateRequest, signal: AbortSignal) => Promise<EvaluateReply>
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
