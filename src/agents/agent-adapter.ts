import type { Envelope } from '../engine/core/context.ts'
import type { Catalogue } from '../engine/events/catalogue.ts'
import type { FieldMap } from './translate/field-map.ts'
import type { ToolNames } from './translate/tool-names.ts'

/** What an agent can do with the reply to one of its events. On `stop`, a block makes the agent continue. */
export type Effect = 'block' | 'ask' | 'grant' | 'rewrite' | 'context'

/** One row of an agent's capability table. */
export interface NativeEvent {
  /** The event of ours. Without one it is dispatched as `agent_event`. */
  readonly event?: keyof Catalogue
  /** A second event of ours, if the payload decides which of the two it is. */
  readonly also?: keyof Catalogue
  /** The plain fields of its payload: reading them and building them both follow from this. */
  readonly fields?: FieldMap
  /** Effects that the agent honours, as observed. */
  readonly honours?: readonly Effect[]
  /** The agent accepts a changed input only together with a permission, so a rewrite also grants. */
  readonly rewriteGrants?: true
  /** Very frequent, so `connect` registers it only on request. */
  readonly chatty?: true
  /** The agent's own time limit, whatever the configuration says. */
  readonly maxTimeoutMs?: number
  /** A note for the docs. */
  readonly note?: string
}

/** The payload as the agent sent it. */
export type NativePayload = Readonly<Record<string, unknown>>

/** A native payload, translated. */
export interface NativeReading {
  /** The payload of our event. */
  readonly payload: Readonly<Record<string, unknown>>
  readonly envelope: Envelope
  /** Set if the payload decides which of several events this is. */
  readonly event?: keyof Catalogue
  /** The parent session, for agents whose sub-agents have sessions of their own. */
  readonly parentSession?: string
}

/** A decision as one agent can carry it out. */
export interface ClientOutcome {
  /** `pass` means no objection: the agent's own permissions apply. */
  readonly kind: 'pass' | 'grant' | 'ask' | 'block'
  /** The reason, for the model and the user. Never empty on `ask` and `block`. */
  readonly message: string
  /** The whole changed input, with the agent's own argument names. */
  readonly input?: unknown
  readonly context?: string
}

/** The reply to a command hook: how the client process ends. */
export interface ProcessReply {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** The reply to a plugin, in the format of its adapter. */
export type PluginReply = Readonly<Record<string, unknown>>

interface AdapterBase {
  /** The name on the command line and in the envelope. */
  readonly name: string
  readonly title: string
  /** The version of the agent that was checked. */
  readonly checked: string
  /** Whether the table was checked by running the agent, or written from its documentation. */
  readonly proof: 'run' | 'documentation'
  readonly events: Readonly<Record<string, NativeEvent>>
  readonly tools: ToolNames
  /** The agent's other tools. They have no name in Hookhelm, so only a matcher with their own name reaches them. */
  readonly unmappedTools: readonly string[]
  /** Throws for a payload that it cannot read. A gate is then blocked. */
  read(event: string, native: NativePayload): NativeReading
  /**
   * When the agent asked its hooks, in milliseconds: the same for every hook that it asks about an event. Only of agents that also
   * run the hooks of another agent's settings.
   */
  momentOf?(native: NativePayload): number | undefined
}

/** An agent that starts a process for each event. */
export interface CommandAgentAdapter extends AdapterBase {
  readonly transport: 'command'
  reply(event: string, outcome: ClientOutcome, native: NativePayload): ProcessReply
}

/** An agent that loads a plugin, which keeps a connection. */
export interface PluginAgentAdapter extends AdapterBase {
  readonly transport: 'plugin'
  reply(event: string, outcome: ClientOutcome, native: NativePayload): PluginReply
}

/** Translates for one coding agent: native payload to event, decision to native reply. */
export type AgentAdapter = CommandAgentAdapter | PluginAgentAdapter
