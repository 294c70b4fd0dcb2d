import type { AgentAdapter } from '../agents/agent.ts'
import { entryOf } from './call-entry.ts'
import { type ConnectSettings, ownBudget, plannedCalls } from './call-plan.ts'
import type { Connection } from './connection.ts'
import type { Host, Place } from './host.ts'
import { hooksTarget, type Target } from './target.ts'

export interface Wanted {
  readonly host: Host
  readonly adapter: AgentAdapter
  readonly place: Place
  readonly dataFolder: string
  readonly settings: ConnectSettings
  /** Of this product. */
  readonly version: string
}

/** A connection as it should be. */
export function wantedConnection({
  host,
  adapter,
  place,
  dataFolder,
  settings,
  version,
}: Wanted): Connection {
  const { socket, spool, failOpen, timeoutMs, allEvents } = settings
  const targets: readonly Target[] =
    host.transport === 'command'
      ? [
          hooksTarget(
            host,
            place.file,
            plannedCalls(adapter, host, settings).map((call) => entryOf(host, call)),
          ),
        ]
      : host.targets(place, dataFolder, {
          agent: host.agent,
          version,
          socket,
          spool,
          within: ownBudget(timeoutMs),
          failOpen,
          ...(allEvents ? { chatty: true } : {}),
        })
  return { agent: host.agent, place, targets, dataFolder }
}

/** A connection only to be taken out again: what it says does not matter. */
export function anyConnection(host: Host, place: Place, dataFolder: string): Connection {
  const nothing = { agent: host.agent, version: '', socket: '', spool: '', within: 0, failOpen: false }
  const targets =
    host.transport === 'command'
      ? [hooksTarget(host, place.file, [])]
      : host.targets(place, dataFolder, nothing)
  return { agent: host.agent, place, targets, dataFolder }
}
