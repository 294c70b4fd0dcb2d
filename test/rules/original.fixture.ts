import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HookChainEvent, HookChainsRuntime } from '../../src/hook-chains.ts'
import { createHookChains, evaluateHookChainRules } from '../../src/hook-chains.ts'

/** What the original finds in its own process: a team file, mailboxes, a policy, a bridge. */
export interface OriginalHost {
  readonly gate?: string | undefined
  readonly allowRemoteSessions?: boolean
  readonly team?: { readonly name: string; readonly members: readonly string[]; readonly isMissing?: true }
  readonly sender?: string
}

/** The callbacks under the names of the original. */
interface OriginalRuntime {
  readonly chainDepth?: number
  readonly onSpawnFallbackAgent?: HookChainsRuntime['launchFallbackAgent']
  readonly onNotifyTeam?: HookChainsRuntime['notifyTeam']
  readonly onWarmRemoteCapacity?: HookChainsRuntime['warmRemoteCapacity']
}

/** The original's module over ours: same functions, same names of callbacks, the host's own facts built in. */
export function originalModule(host: OriginalHost = {}) {
  const { gate = '1', allowRemoteSessions = true, team, sender } = host
  const env = 'gate' in host ? host.gate : gate
  const chains = createHookChains({ env: () => ({ CLAUDE_CODE_ENABLE_HOOK_CHAINS: env }) })
  const mailboxes: string[] = []
  const ofHost: HookChainsRuntime = {
    isPolicyAllowed: () => allowRemoteSessions,
    readTeam: async () =>
      team === undefined || team.isMissing ? undefined : { members: team.members.map((name) => ({ name })) },
    writeToMailbox: async (recipient) => {
      mailboxes.push(recipient)
    },
    ...(team === undefined ? {} : { hostTeamName: team.name }),
    ...(sender === undefined ? {} : { hostAgentName: sender }),
  }
  return {
    mailboxes,
    evaluateHookChainRules,
    loadHookChainsConfig: chains.loadHookChainsConfig,
    dispatchHookChainsForEvent(options: {
      readonly configPathOverride: string
      readonly event: HookChainEvent
      readonly runtime?: OriginalRuntime
    }) {
      const { onSpawnFallbackAgent, onNotifyTeam, onWarmRemoteCapacity, ...rest } = options.runtime ?? {}
      return chains.dispatchHookChainsForEvent({
        ...options,
        runtime: {
          ...ofHost,
          ...rest,
          ...(onSpawnFallbackAgent === undefined ? {} : { launchFallbackAgent: onSpawnFallbackAgent }),
          ...(onNotifyTeam === undefined ? {} : { notifyTeam: onNotifyTeam }),
          ...(onWarmRemoteCapacity === undefined ? {} : { warmRemoteCapacity: onWarmRemoteCapacity }),
        },
      })
    },
  }
}

export function configFile(config: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), 'original-chains-')), 'hook-chains.json')
  writeFileSync(path, JSON.stringify(config))
  return path
}
