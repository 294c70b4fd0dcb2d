import type { AgentAdapter, NativeEvent } from '../agents/agent.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import type { CommandHost, Refusal } from './host.ts'

export interface ClientProgram {
  /** The program and what comes before our own arguments. */
  readonly command: readonly string[]
}

export interface ConnectSettings {
  readonly client: ClientProgram
  readonly socket: string
  readonly spool: string
  readonly failOpen: boolean
  /** How long the agent waits for a gate. */
  readonly timeoutMs: number
  readonly allEvents: boolean
}

/** How one event of an agent is connected. */
export interface Call {
  readonly event: string
  readonly isGate: boolean
  /** The client with all its arguments. */
  readonly argv: readonly string[]
  readonly timeoutMs: number
  readonly refusal: Refusal | undefined
  readonly failOpen: boolean
}

/** An observation that takes longer is spooled and delivered later. */
const OBSERVE_TIMEOUT_MS = 10_000
const OBSERVE_WITHIN_MS = 5_000

/** Every event worth connecting, as its table says. */
export function plannedCalls(
  { name, events }: AgentAdapter,
  host: CommandHost,
  settings: ConnectSettings,
): Call[] {
  return Object.entries(events)
    .filter(([event, row]) => !host.never.includes(event) && isConnected(row, settings.allEvents))
    .map(([event, row]) => {
      const isGate = isGateRow(row)
      const timeoutMs = Math.min(
        isGate ? settings.timeoutMs : OBSERVE_TIMEOUT_MS,
        row.maxTimeoutMs ?? Infinity,
      )
      const within = isGate ? ownBudget(timeoutMs) : Math.min(OBSERVE_WITHIN_MS, ownBudget(timeoutMs))
      const refusal = isGate ? host.refusals[event] : undefined
      const { client, socket, spool, failOpen } = settings
      const argv = [
        ...client.command,
        ...[name, event, '--socket', socket, '--spool', spool, '--within', String(within)],
        ...(isGate ? [] : ['--observe']),
        ...(refusal === undefined ? [] : ['--refuse', refusal]),
        ...(isGate && failOpen ? ['--fail-open'] : []),
      ]
      return { event, isGate, argv, timeoutMs, refusal, failOpen: isGate && failOpen }
    })
}

function isConnected({ event, chatty }: NativeEvent, all: boolean): boolean {
  return all || (event !== undefined && chatty !== true)
}

/** Events that close when nobody answers: those that stop something before it happens, where the client can stop it. */
export function isGateRow({ event, honours = [] }: NativeEvent): boolean {
  if (event === undefined || !honours.includes('block')) return false
  const { mode, onFailure } = catalogue[event]
  return mode === 'gate' && onFailure === 'block'
}

/** Below what the agent waits, with time to start and to answer: it lets pass what it ends itself. */
export function ownBudget(timeoutMs: number): number {
  const margin = Math.min(Math.max(timeoutMs / 10, 1_000), 5_000)
  return Math.max(Math.floor(timeoutMs - margin), 100)
}
