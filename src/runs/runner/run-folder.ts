import { realpathSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, sep } from 'node:path'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { resolveDirectory } from '../../safe/process/child-environment.ts'

/** Where the runs of a runner may work. */
export interface RunFolders {
  /** Where runs work that name no folder. */
  readonly cwd: string
  /** A run may name these folders and those below them. */
  folders(): readonly string[]
}

/** The folder of a run, with links followed. Throws `runs.outside_folders` for one that no administrator has listed. */
export async function findRunFolder(named: string | null, { cwd, folders }: RunFolders): Promise<string> {
  if (named === null) return resolveDirectory(cwd, undefined)
  const listed = folders()
  if (isAbsolute(named) && !named.split(sep).includes('..')) {
    for (const root of listed) {
      const found = await resolveDirectory(named, root).catch(() => undefined)
      if (found !== undefined) return found
    }
  }
  const below = listed.length === 0 ? 'and none is listed' : `those in ${listed.join(', ')}`
  throw serverError(
    'runs.outside_folders',
    `${named.slice(0, 200)} is not one of the folders that runs may work in, ${below}`,
  )
}

/**
 * The folders of a runner whose administrator lists none: the project that it was started in. Services start in a home or in
 * `/`, which nobody chose for runs.
 */
export function startFolders(cwd: string, home = homedir()): readonly string[] {
  const project = realpathSync(cwd)
  const prefix = project.endsWith(sep) ? project : project + sep
  const isAboveHome = [home, userInfo().homedir].some((each) =>
    `${realPathOf(each)}${sep}`.startsWith(prefix),
  )
  return isAboveHome ? [] : [project]
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
