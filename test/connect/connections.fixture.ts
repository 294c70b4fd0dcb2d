import { agentNamed } from '../../src/agents/table.ts'
import { wantedConnection } from '../../src/connect/connectable.ts'
import type { Connection } from '../../src/connect/connection.ts'
import type { Level } from '../../src/connect/host.ts'
import { hostNamed } from '../../src/connect/hosts/table.ts'
import type { TemporaryHome } from './home.fixture.ts'

interface Options {
  readonly level?: Level
  readonly timeoutMs?: number
  readonly failOpen?: boolean
  readonly allEvents?: boolean
  readonly command?: readonly string[]
  readonly socket?: string
}

/** A connection of an agent as `hookhelm connect` wants it. */
export function connectionOf(agent: string, home: TemporaryHome, options: Options = {}): Connection {
  const { level = 'user', timeoutMs = 60_000, failOpen = false, allEvents = false } = options
  const host = hostNamed(agent)
  const adapter = agentNamed(agent)
  const place = host?.places(home.where).find((each) => each.level === level)
  if (host === undefined || adapter === undefined || place === undefined) throw new Error(`no ${agent} there`)
  const settings = {
    client: { command: options.command ?? ['/opt/hook helm/hookhelm-hook'] },
    socket: options.socket ?? '/run/hookhelm/gateway.sock',
    spool: home.path('data', 'spool'),
    failOpen,
    timeoutMs,
    allEvents,
  }
  const { dataFolder } = home
  return wantedConnection({
    host,
    adapter,
    place,
    dataFolder,
    settings,
    version: '1.2.3',
  })
}
