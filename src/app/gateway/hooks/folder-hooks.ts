import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findPayloadShape } from '../../../agents/table.ts'
import type { Handler } from '../../../engine/core/handler.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import { isRecord } from '../../../engine/core/schema/check.ts'
import { definedFields } from '../../../engine/core/values/defined-fields.ts'
import type { Hooks } from '../../../engine/dispatch/hooks.ts'
import type { HookDefinition } from '../../../engine/hook-definition.ts'
import { findHookFolders, HOOK_FOLDER } from '../../../hook-files/hook-folders.ts'
import type { TrustStore } from '../../../hook-files/trust.ts'
import { watchHookFiles } from '../../../hook-files/watch/watch-hook-files.ts'
import type { AgentFolders, AttachedFiles } from '../../../stored-hooks/snapshots/snapshot.ts'

interface FolderHooksParts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly handlers: readonly Handler[]
  readonly trust: TrustStore
  readonly log: Log
  /** Called after hooks of a file came into use. */
  onLoad(): void
}

/** The hook files that a program in a folder would find: the administrator's, the user's, the repository's. */
export function folderHooks({
  env,
  handlers,
  trust,
  log,
  onLoad,
}: FolderHooksParts): (hooks: Hooks, folder: AgentFolders) => AttachedFiles {
  return (hooks, { cwd, start, touched = [] }) => {
    const inUse = new Map<string, readonly HookDefinition[]>()
    const files = watchHookFiles({
      folders: findHookFolders({ cwd, start, touched, env, repositories: trust.repositories() }),
      apply(group, definitions) {
        const otherFolder = touched.find((folder) => join(folder, HOOK_FOLDER) === group)
        const at = { cwd: existingFolder(otherFolder ?? cwd), start: existingFolder(otherFolder ?? start) }
        const placed = definitions.map((definition) => inFolder(definition, at))
        hooks.replace(group, placed, definedFields({ otherFolder }))
        inUse.set(group, placed)
        onLoad()
      },
      handlers,
      trust,
      log,
    })
    return {
      find(id) {
        for (const [place, definitions] of inUse) {
          const found = definitions.find((definition) => definition.id === id)
          if (found !== undefined) {
            const { handler_type, if_expr, enabled = true, name, ask, approvers } = found
            const { routes, preapproves, locked } = found
            const condition = if_expr === undefined ? {} : { if_expr }
            const state = files.status().find(({ folder }) => folder === place)?.state
            const fileState = state === 'changed' || state === 'gone' ? { fileState: state } : {}
            const asking = {
              ...definedFields({ name, ask, approvers, routes, preapproves, locked }),
            }
            return {
              handler_type,
              enabled,
              isInFile: true,
              folder: place,
              ...condition,
              ...fileState,
              ...asking,
            }
          }
        }
        return undefined
      },
      status: () => files.status(),
      close: () => files.close(),
    }
  }
}

/** The nearest folder around a path that exists: the path itself may be on the machine of the caller. */
function existingFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingFolder(dirname(path))
}

/** A command of a file runs where the agent works, and not where the gateway happened to be started. */
function inFolder(definition: HookDefinition, { cwd, start }: AgentFolders): HookDefinition {
  const { handler_type, config } = definition
  if (handler_type !== 'command' || !isRecord(config) || config.cwd !== undefined) return definition
  const folder = findPayloadShape(String(config.payload))?.runsInProject ? start : cwd
  return { ...definition, config: { ...config, cwd: folder } }
}
