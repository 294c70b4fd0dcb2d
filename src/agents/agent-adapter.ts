import type { Envelope } from '../engine/core/context.ts'
import type { Catalogue } from '../engine/events/catalogue.ts'
import type { ToolNames } from './translate/tool-names.ts'

/** What a client may do with an answer to one of its events. On `stop` a block means that it goes on working. */
export type Effect = 'block' | 'ask' | 'grant' | 'rewrite' | 'context'

/** One event of a coding agent, as its capability table says. */
export interface NativeEvent {
  /** Ours; without one it arrives as `agent_event`. */
  readonly event?: keyof Catalogue
  /** Ours as well, where only the payload tells which of both it is. */
  readonly also?: keyof Catalogue
  /** What the client was seen to honour. */
  readonly honours?: readonly Effect[]
  /** A changed input is taken only together with a permission, so a rewrite also grants. */
  readonly rewriteGrants?: true
  /** Comes so often that it is connected only when asked for. */
  readonly chatty?: true
  /** The host waits no longer than this, whatever the configuration says. */
  readonly maxTimeoutMs?: number
  /** For the docs: what to know about it. */
  readonly note?: string
}

/** The payload of a client, as it came. */
export type NativePayload = Readonly<Record<string, unknown>>

/** What a native payload says. */
export interface NativeReading {
  /** As the row of the event wants it. */
  readonly payload: Readonly<Record<string, unknown>>
  readonly envelope: Envelope
  /** Where the payload itself tells which of several events this is. */
  readonly event?: keyof Catalogue
  /** The session this one was started from, where sub-agents have sessions of their own. */
  readonly parentSession?: string
}

/** A decision as one client can carry it out. */
export interface ClientOutcome {
  /** `pass` is no objection: the client's own rules still apply. */
  readonly kind: 'pass' | 'grant' | 'ask' | 'block'
  /** For the model and the user. Never empty on `ask` and `block`. */
  readonly message: string
  /** The whole changed input, in the client's own spelling. */
  readonly input?: unknown
  readonly context?: string
}

/** What is answered: how the client's process ends. */
export interface ProcessReply {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** What is answered to a plugin, in the shape of its adapter. */
export type PluginReply = Readonly<Record<string, unknown>>

interface AdapterBase {
  /** As on the command line and in the envelope. */
  readonly name: string
  readonly title: string
  /** The version whose behaviour was checked. */
  readonly checked: string
  /** Checked by running it, or written from its documentation. */
  readonly proof: 'run' | 'documentation'
  readonly events: Readonly<Record<string, NativeEvent>>
  readonly tools: ToolNames
  /** May throw for what cannot be read: a gate is then refused. */
  read(event: string, native: NativePayload): NativeReading
}

/** A client that starts a process for each event. */
export interface CommandAgentAdapter extends AdapterBase {
  readonly transport: 'command'
  reply(event: string, outcome: ClientOutcome, native: NativePayload): ProcessReply
}

/** A client that loads a plugin, which keeps a connection. */
export interface PluginAgentAdapter extends AdapterBase {
  readonly transport: 'plugin'
  reply(event: string, outcome: ClientOutcome, native: NativePayload): PluginReply
}

/** Translator for one coding agent: native payload to event, decision to native reply. */
export type AgentAdapter = CommandAgentAdapter | PluginAgentAdapter
