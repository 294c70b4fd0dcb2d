import type { ConfigLevel } from '../../src/agents/agent-host.ts'
import { findProfile } from '../../src/agents/table.ts'
import { type AgentConnection, planConnection } from '../../src/connect/connection.ts'
import type { TemporaryHome } from './home.fixture.ts'

interface Options {
  readonly level?: ConfigLevel
  readonly timeoutMs?: number
  readonly failOpen?: boolean
  readonly allEvents?: boolean
  readonly command?: readonly string[]
  readonly socket?: string
}

/** A connection of an agent as `hookhelm connect` wants it. */
export function connectionOf(agent: string, home: TemporaryHome, options: Options = {}): AgentConnection {
  const { level = 'user', timeoutMs = 60_000, failOpen = false, allEvents = false } = options
  const profile = findProfile(agent)
  const config = profile?.host.configFiles(home.paths).find((each) => each.level === level)
  if (profile === undefined || config === undefined) throw new Error(`no ${agent} at the level ${level}`)
  const { host, adapter } = profile
  const settings = {
    client: { command: options.command ?? ['/opt/hook helm/hookhelm-hook'] },
    socket: options.socket ?? '/run/hookhelm/gateway.sock',
    spool: home.path('data', 'spool'),
    failOpen,
    timeoutMs,
    waitMs: 0,
    allEvents,
  }
  const { dataFolder } = home
  return planConnection({
    host,
    adapter,
    config,
    dataFolder,
    settings,
    version: '1.2.3',
  })
}
