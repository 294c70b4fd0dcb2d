/** What every function of a host learns about the event that caused the call. */
interface HostRequest {
  /** The depth of events that result from the call, so that chains of agents end. */
  readonly depth: number
  readonly parent_event_id: string
  readonly tenant_id?: string
  readonly session_id?: string
  readonly run_id?: string
}

/** An agent to start: by its name, by a prompt, or by both. */
export interface StartAgentRequest extends HostRequest {
  readonly agent_name?: string
  readonly prompt?: string
  readonly model?: string
  /** The event as the agent sees it. */
  readonly input: Readonly<Record<string, unknown>>
  /** The JSON Schema of the answer. */
  readonly output_schema?: Readonly<Record<string, unknown>>
  /** The event that the agent decides about. */
  readonly event?: string
  /** The hook that starts the agent. */
  readonly hook_id?: string
  /** What the agent is for, to show to people. */
  readonly description?: string
  /** Return when the agent has started, instead of waiting for its answer. */
  readonly run_in_background?: boolean
}

/** The answer of an agent: an object, or its JSON text. The caller validates it. */
export type AgentAnswer = string | Readonly<Record<string, unknown>>

/** An agent that runs in the background. */
export interface LaunchedAgent {
  readonly launched: boolean
  readonly agent_id?: string
  /** Why the host did not start it. */
  readonly reason?: string
}

/** Which recovery rule calls the host, and for which event. */
interface RuleRequest extends HostRequest {
  readonly rule_id: string
  readonly event: string
  readonly outcome: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** A message to a team. */
export interface NotifyRequest extends RuleRequest {
  /** The team of the session if omitted. */
  readonly team_name?: string
  /** Member names; every member except the sender if omitted. */
  readonly recipients?: readonly string[]
  readonly sender_name?: string
  readonly summary: string
  readonly message: string
}

/** Who was notified. */
export interface NotifyReply {
  readonly sent: boolean
  /** The number of recipients. */
  readonly recipients?: number
  /** Why nothing was sent. */
  readonly reason?: string
}

/** A remote environment to prepare before it is needed. */
export interface WarmRequest extends RuleRequest {
  readonly create_default_environment_if_missing: boolean
}

/** Whether capacity was warmed up. */
export interface WarmReply {
  readonly warmed: boolean
  readonly environment_id?: string
  /** Why nothing was prepared. */
  readonly reason?: string
}

/** A decision `ask`, which a person must approve or deny. */
export interface AskRequest extends HostRequest {
  readonly event: string
  /** The question to show. */
  readonly prompt: string
  /** The id of the hook that asks. */
  readonly hook_id: string
  readonly tool_name?: string
  /** The final arguments, after every rewrite. */
  readonly input: unknown
  /** The hash of the final arguments. An approval is valid for these arguments only. */
  readonly input_hash: string
  /** Milliseconds since 1970. Without a reply by then the call is denied. */
  readonly deadline: number
}

/** The decision of a person. */
export interface AskReply {
  readonly decision: 'allow' | 'deny'
  /** The person who decided. */
  readonly by?: string
  readonly reason?: string
}

/** A question to a model. */
export interface EvaluateRequest extends HostRequest {
  /** The default model if omitted. */
  readonly model?: string
  readonly system: string
  readonly prompt: string
  /** The tool that the model must call instead of answering with text. */
  readonly tool?: {
    readonly name: string
    readonly description: string
    readonly schema: Readonly<Record<string, unknown>>
  }
}

/** The answer of the model. */
export interface EvaluateReply {
  readonly model: string
  readonly text: string
  /** The first tool call, unvalidated. */
  readonly call?: { readonly name: string; readonly input: unknown }
  /** Tokens used, input and output together. */
  readonly tokens: number
}
