import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { findPayloadShape } from '../agents/table.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import type { HookFolder } from '../hook-files/hook-folders.ts'
import type { AgentFolders } from '../stored-hooks/snapshots/snapshot.ts'

/** A command of a file runs where the agent works, and one of another folder there; not where the gateway was started. */
export function placeFileHooks(
  definitions: readonly HookDefinition[],
  { otherFolder }: HookFolder,
  own: Pick<AgentFolders, 'cwd' | 'start'>,
): readonly HookDefinition[] {
  const cwd = existingFolder(otherFolder ?? own.cwd)
  const start = existingFolder(otherFolder ?? own.start)
  return definitions.map((definition) => {
    const { handler_type, config } = definition
    if (handler_type !== 'command' || !isRecord(config) || config.cwd !== undefined) return definition
    const runsInProject = findPayloadShape(String(config.payload))?.runsInProject === true
    return { ...definition, config: { ...config, cwd: runsInProject ? start : cwd } }
  })
}

/** The nearest folder around a path that exists: the path itself may be on the machine of the caller. */
function existingFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingFolder(dirname(path))
}
