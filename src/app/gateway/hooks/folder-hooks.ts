import type { Handler } from '../../../engine/core/handler.ts'
import type { Log } from '../../../engine/core/records/sink.ts'
import { definedFields } from '../../../engine/core/values/defined-fields.ts'
import type { Hooks } from '../../../engine/dispatch/hooks.ts'
import type { HookDefinition } from '../../../engine/hook-definition.ts'
import { findHookFolders } from '../../../hook-files/hook-folders.ts'
import type { TrustStore } from '../../../hook-files/trust.ts'
import { watchHookFiles } from '../../../hook-files/watch/watch-hook-files.ts'
import type { AgentFolders, AttachedFiles } from '../../../stored-hooks/snapshots/snapshot.ts'
import { placeFileHooks } from '../../place-file-hooks.ts'

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
      apply(source, definitions) {
        const placed = placeFileHooks(definitions, source, { cwd, start })
        hooks.replace(source.folder, placed, source)
        inUse.set(source.folder, placed)
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
