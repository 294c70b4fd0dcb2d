import type { HookFolder } from '../hook-folders.ts'
import type { ReadHookFolderOptions } from './read-hook-folder.ts'
import { type HookFileStatus, WatchedFolder } from './watched-folder.ts'

/**
 * The state of every hook file in these folders: in use, changed or gone since it was trusted, waiting for trust, or
 * broken, with the number of hooks that it has in force. Reads each file once; neither watches nor registers anything.
 */
export function inspectHookFiles(
  folders: readonly HookFolder[],
  options: ReadHookFolderOptions,
): HookFileStatus[] {
  return folders.map((folder) => {
    const watched = new WatchedFolder(folder, { ...options, apply: () => {}, log: () => {} })
    watched.load()
    return watched.status
  })
}
