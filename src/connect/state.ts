import { isHookError } from '../engine/core/error.ts'
import { callIn, type WrittenCall } from './call-entry.ts'
import { anyConnection } from './connectable.ts'
import { readState, textOf } from './files/config-file.ts'
import type { Host, Level, Where } from './host.ts'
import { hosts } from './hosts/table.ts'
import { isOurFile, oursIn } from './target.ts'
import type { PlacedHook } from './text/hook-lists.ts'
import { unreadBecause } from './text/readable.ts'

/** An agent that is connected in one of its files. */
export interface Connected {
  readonly agent: string
  readonly level: Level
  readonly file: string
  /** The commands as they stand there; a plugin has none. */
  readonly calls: readonly WrittenCall[]
  readonly hooks: readonly PlacedHook[]
  /** The plugin that the agent loads. */
  readonly plugin?: string
  /** Why the agent does not read the file at all. */
  readonly unread?: string
}

/** A file that may or may not hold a connection. */
export interface Unreadable {
  readonly agent: string
  readonly level: Level
  readonly file: string
  readonly problem: string
  readonly hint: string
}

export interface Connections {
  readonly connected: readonly Connected[]
  /** What cannot be read may hold a connection that the agent does not see either. */
  readonly unreadable: readonly Unreadable[]
}

/** What the agents' own configurations say; our notes are not asked. */
export function connectedAgents(where: Where, dataFolder: string, names?: readonly string[]): Connections {
  const connected: Connected[] = []
  const unreadable: Unreadable[] = []
  const seen = new Set<string>()
  for (const host of hosts.filter(({ agent }) => names === undefined || names.includes(agent)))
    for (const { level, file } of host.places(where)) {
      // In the home folder the project's file is the user's.
      if (seen.has(`${host.agent} ${file}`)) continue
      seen.add(`${host.agent} ${file}`)
      try {
        const found = connectionIn(host, { level, file }, dataFolder)
        if (found !== undefined) connected.push(found)
      } catch (thrown) {
        if (!isHookError(thrown)) throw thrown
        unreadable.push({ agent: host.agent, level, file, problem: thrown.message, hint: thrown.hint })
      }
    }
  return { connected, unreadable }
}

function connectionIn(
  host: Host,
  place: { readonly level: Level; readonly file: string },
  dataFolder: string,
): Connected | undefined {
  const state = readState(place.file)
  if (state === undefined) return undefined
  const text = textOf(place.file, state)
  const common = { agent: host.agent, ...place }
  if (host.transport === 'command') {
    const hooks = oursIn(host, place.file, text)
    if (hooks.length === 0) return undefined
    const unread = unreadBecause(text, place.file, host.reads)
    return {
      ...common,
      hooks,
      calls: hooks.flatMap((hook) => callIn(host, hook) ?? []),
      ...(unread === undefined ? {} : { unread }),
    }
  }
  const plugin = host.pluginFile(place, dataFolder)
  const isIn =
    plugin === place.file
      ? isOurFile(text)
      : anyConnection(host, place, dataFolder).targets.at(-1)?.stripped(text) !== text
  return isIn ? { ...common, hooks: [], calls: [], plugin } : undefined
}
