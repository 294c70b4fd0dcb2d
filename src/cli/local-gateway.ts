import { createClient } from '../client/client.ts'
import { errorText } from '../engine/core/error.ts'
import type { Methods } from '../gateway/methods/table.ts'
import { agentId } from '../gateway/tenancy/agent-id.ts'
import { connection } from './remote/connection.ts'

export type Status = Methods['status']['result']

/** What can be asked of the gateway on this machine; whatever cannot be answered is nothing. */
export interface LocalGateway {
  status(): Promise<Status | { readonly problem: string }>
  knows(session: string): Promise<boolean | undefined>
  /** Agent → when its last event came, in milliseconds since 1970. */
  lastEvents(names: readonly string[]): Promise<ReadonlyMap<string, number> | undefined>
  close(): Promise<void>
}

const PATIENCE_MS = 5_000
const PAGE = 200

export function openLocalGateway(): LocalGateway {
  let client: ReturnType<typeof createClient> | undefined
  // Without a token there is nothing to ask, and that is an answer too.
  const opened = () => {
    client ??= createClient({ ...connection({}), timeoutMs: PATIENCE_MS })
    return client
  }
  const attempt = async <T>(ask: () => Promise<T>): Promise<T | { readonly problem: string }> => {
    try {
      return await ask()
    } catch (thrown) {
      return { problem: errorText(thrown) }
    }
  }
  return {
    status: () => attempt(() => opened().call('status', {})),
    async knows(session) {
      const found = await attempt(() => opened().call('sessions.timeline', { sessionId: session, limit: 1 }))
      return 'problem' in found ? undefined : found.events.length > 0
    },
    async lastEvents(names) {
      const [status, page] = await Promise.all([
        attempt(() => opened().call('status', {})),
        attempt(() => opened().call('sessions.list', { limit: PAGE })),
      ])
      if ('problem' in status || 'problem' in page) return undefined
      const times = names.flatMap((name): [string, number][] => {
        const id = agentId(status.tenant, name)
        const last = page.sessions.find(({ agent_id }) => agent_id === id)?.last_at
        return last === undefined ? [] : [[name, last]]
      })
      return new Map(times)
    },
    async close() {
      await client?.close()
    },
  }
}
