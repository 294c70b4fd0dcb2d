import { dirname } from 'node:path'
import { errorText } from '../../../engine/core/errors/error.ts'
import type { Handler } from '../../../engine/core/handler.ts'
import type { Edition } from '../../../engine/core/values/edition.ts'
import { reportHookFiles } from '../../../hook-files/hook-file-report.ts'
import { findHookFolders, type HookFolder, hookFileIn, trustFile } from '../../../hook-files/hook-folders.ts'
import { type TrustStore, trustStore } from '../../../hook-files/trust.ts'
import { inspectHookFiles } from '../../../hook-files/watch/inspect-hook-files.ts'
import type { HookFileStatus } from '../../../hook-files/watch/watched-folder.ts'
import type { MethodParts } from '../../../methods/method-parts.ts'
import { NO_FOLDER, realFolder, usesHookFiles } from '../../../stored-hooks/snapshots/event-folders.ts'
import type { Snapshots } from '../../../stored-hooks/snapshots/snapshots.ts'

interface HooksInForceParts {
  readonly snapshots: Pick<Snapshots, 'of' | 'folders'>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly edition: Edition
  readonly handlers: readonly Handler[]
}

/** Reads the hooks in force from the snapshot that dispatches use. Hook files count in the lite edition only. */
export function readHooksInForce(
  parts: HooksInForceParts,
): Pick<MethodParts, 'hooksInForce' | 'hookFolders'> {
  const { snapshots, env, edition, handlers } = parts
  const trust = trustStore(trustFile(env))
  const hooksInForce: MethodParts['hooksInForce'] = async (tenant, given) => {
    if (!usesHookFiles(tenant, edition))
      return { snapshot: await snapshots.of(tenant), problem: '', files: [] }
    const cwd = realFolder(given)
    const repositories = readOrNone(trust.repositories)
    const folders = findHookFolders({ cwd, env, repositories }).filter(
      ({ level }) => level !== 'repository' || given !== undefined,
    )
    const isListed = ({ folder }: HookFileStatus) => folders.some((each) => each.folder === folder)
    try {
      const at = given === undefined ? NO_FOLDER : { cwd, start: cwd }
      const snapshot = await snapshots.of(tenant, at)
      return { snapshot, problem: '', files: reportHookFiles(snapshot.files().filter(isListed), folders) }
    } catch (thrown) {
      // The stored hooks are still worth listing.
      const snapshot = await Promise.resolve(snapshots.of(tenant)).catch(() => undefined)
      const files = reportHookFiles(inspectHookFiles(folders, { handlers, trust }), folders)
      return { snapshot, problem: errorText(thrown), files }
    }
  }
  return {
    hooksInForce,
    hookFolders(tenant) {
      if (!usesHookFiles(tenant, edition)) return []
      const worked = snapshots
        .folders(tenant)
        .flatMap(({ cwd, start, touched = [] }) => [cwd, start, ...touched])
      const trusted = readOrNone(trust.paths).map((path) => dirname(dirname(path)))
      const repositories = readOrNone(trust.repositories)
      return [
        ...new Set(
          [...new Set([...trusted, ...worked])].flatMap((cwd) => {
            const folders = findHookFolders({ cwd, env, repositories })
            return folders.findLast((folder) => mayHaveHooks(folder, trust))?.folder ?? []
          }),
        ),
      ].map(dirname)
    },
  }
}

/** A trust store that cannot be read must not hide the hooks that are in force; its state is reported with the files. */
function readOrNone(read: () => string[]): string[] {
  try {
    return read()
  } catch {
    return []
  }
}

/** Whether a folder of a repository has a hook file, or had one that is trusted. */
function mayHaveHooks({ level, folder }: HookFolder, trust: TrustStore): boolean {
  if (level !== 'repository') return false
  try {
    return hookFileIn(folder) !== undefined || trust.findInFolder(folder) !== undefined
  } catch {
    // Its state says why it cannot be used.
    return true
  }
}
