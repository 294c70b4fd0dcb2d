import { agentId } from '../../access/agent-id.ts'
import { createClient } from '../../client/client.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Methods } from '../../gateway/methods.ts'
import type { EffectiveHook } from '../../stored-hooks/saving/effective-hook-schema.ts'
import { connection } from '../remote/connection.ts'

export type Status = Methods['status']['result']
export type Report = Methods['reports.list']['result']['reports'][number]

/** Questions to the gateway on this machine. Answers are `undefined` while it does not answer. */
export interface LocalGateway {
  status(): Promise<Status | { readonly problem: string }>
  knows(session: string): Promise<boolean | undefined>
  /** The hooks in force in a folder. */
  effective(folder: string): Promise<readonly EffectiveHook[]>
  /** Agent → when its last event came, in milliseconds since 1970. */
  lastEvents(names: readonly string[]): Promise<ReadonlyMap<string, number> | undefined>
  /** Stores the doctor's result for an agent. Returns why it could not, or undefined. */
  report(agent: string, checks: Report['checks']): Promise<string | undefined>
  /** The doctor's last result for each agent. */
  reports(): Promise<readonly Report[] | undefined>
  close(): Promise<void>
}

const TIMEOUT_MS = 5_000
const PAGE = 200

export function openLocalGateway(): LocalGateway {
  let client: ReturnType<typeof createClient> | undefined
  // Opened with the first question: without a token `connection` throws, and `attempt` reports that.
  const opened = () => {
    client ??= createClient({ ...connection({}), timeoutMs: TIMEOUT_MS })
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
    async effective(folder) {
      const found = await attempt(() => opened().call('hooks.effective', { folder }))
      return 'hooks' in found ? found.hooks : []
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
    async report(agent, checks) {
      const stored = await attempt(() => opened().call('reports.set', { agent, checks }))
      return 'problem' in stored ? stored.problem : undefined
    },
    async reports() {
      const stored = await attempt(() => opened().call('reports.list', {}))
      return 'problem' in stored ? undefined : stored.reports
    },
    async close() {
      await client?.close()
    },
  }
}
