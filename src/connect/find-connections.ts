import { join } from 'node:path'
import type {
  AgentConfigFile,
  AgentHost,
  CommandHost,
  ConfiguredHook,
  HostPaths,
} from '../agents/agent-host.ts'
import {
  decodeConfig,
  parseConfig,
  propertyOf,
  readConfigState,
  splitByteOrderMark,
} from '../agents/config/read-config.ts'
import { agentProfiles } from '../agents/table.ts'
import { isHookError } from '../engine/core/errors/error.ts'
import { definedFields } from '../engine/core/values/defined-fields.ts'
import { hooksTarget, isOwnFile, listOwnHooks } from './config-target.ts'
import { disconnectTargets } from './connection.ts'
import { explainUnreadable } from './explain-unreadable.ts'
import { parseHookCommand, type WrittenHookCommand } from './hook-command.ts'

/** An agent that is connected in one of its files. */
export interface ConnectedAgent extends AgentConfigFile {
  readonly agent: string
  /** The commands in the file. A plugin has none. */
  readonly commands: readonly WrittenHookCommand[]
  readonly hooks: readonly ConfiguredHook[]
  /** The plugin file that the agent loads. */
  readonly plugin?: string
  /** Why the agent ignores the whole file. */
  readonly unreadable?: string
}

/** A file that Hookhelm cannot read. It may hold a connection that the agent does not see either. */
export interface UnreadableConfig extends AgentConfigFile {
  readonly agent: string
  readonly problem: string
  readonly hint: string
}

export interface FoundConnections {
  readonly connected: readonly ConnectedAgent[]
  readonly unreadable: readonly UnreadableConfig[]
}

/** Reads the agents' own configurations. The backups of `connect` play no part. */
export function findConnections(
  paths: HostPaths,
  dataFolder: string,
  names?: readonly string[],
): FoundConnections {
  const connected: ConnectedAgent[] = []
  const unreadable: UnreadableConfig[] = []
  const seen = new Set<string>()
  for (const { host } of agentProfiles) {
    const { agent } = host
    if (names !== undefined && !names.includes(agent)) continue
    for (const { level, file } of host.configFiles(paths)) {
      // In the home folder the project's file is the user's file.
      if (seen.has(`${agent} ${file}`)) continue
      seen.add(`${agent} ${file}`)
      try {
        const found = readConnection(host, { level, file }, dataFolder)
        if (found !== undefined) connected.push(found)
      } catch (thrown) {
        if (!isHookError(thrown)) throw thrown
        unreadable.push({ agent, level, file, problem: thrown.message, hint: thrown.hint })
      }
    }
  }
  return { connected, unreadable }
}

/** Reads one configuration. Returns undefined if it holds nothing of ours. Throws if it cannot be read. */
export function readConnection(
  host: AgentHost,
  config: AgentConfigFile,
  dataFolder: string,
): ConnectedAgent | undefined {
  const state = readConfigState(config.file)
  if (state === undefined) return undefined
  const text = decodeConfig(config.file, state)
  const base = { agent: host.agent, ...config }
  if (host.transport === 'command') {
    const hooks = listOwnHooks(host, config.file, text)
    if (hooks.length === 0) return undefined
    const unreadable = explainUnreadable(text, config.file, host.syntax)
    return {
      ...base,
      hooks,
      commands: hooks.flatMap((hook) => parseHookCommand(host, hook) ?? []),
      ...definedFields({ unreadable }),
    }
  }
  const plugin = join(host.pluginFolder(config, dataFolder), host.entryFile)
  const isConnected =
    plugin === config.file
      ? isOwnFile(text)
      : disconnectTargets(host, config, dataFolder).at(-1)?.strip(text) !== text
  return isConnected ? { ...base, hooks: [], commands: [], plugin } : undefined
}

/** A configuration of an agent, without our hooks. */
export interface ForeignConfig {
  readonly path: string
  readonly text: string
}

/** The configurations of an agent that hold hooks of others. */
export function findForeignHooks(host: CommandHost, paths: HostPaths): readonly ForeignConfig[] {
  const files = [...new Set(host.configFiles(paths).map(({ file }) => file))]
  return files.flatMap((path) => {
    const state = readConfigState(path)
    if (state === undefined) return []
    const text = hooksTarget(host, path, []).strip(decodeConfig(path, state))
    return text === undefined || !hasHooks(text, path) ? [] : [{ path, text }]
  })
}

function hasHooks(text: string, path: string): boolean {
  const { root } = parseConfig(splitByteOrderMark(text).text, path)
  return root !== undefined && propertyOf(root, 'hooks') !== undefined
}
