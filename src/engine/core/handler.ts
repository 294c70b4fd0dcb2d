import type { HookContext } from './context.ts'
import type { ErrorCode } from './error-table.ts'
import type { HookDefinition } from './hook.ts'
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
