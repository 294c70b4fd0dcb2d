import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { errorText } from '../engine/core/errors/error.ts'
import { handlerError } from '../engine/core/errors/handler-errors.ts'
import { type HookFileLevel, unreadableFile } from './read/load-file.ts'

/** A folder that may hold one hook file. */
export interface HookFolder {
  readonly level: HookFileLevel
  readonly folder: string
  /** The first part of the ids of hooks that have none in the file. */
  readonly label: string
  /** Set if the agent works elsewhere and a call touches this folder, whose hooks may then only block or ask. */
  readonly otherFolder?: string
}

export interface FindOptions {
  readonly cwd?: string
  /** Where the session in `cwd` began. Hooks of that folder stay in use when the agent moves elsewhere. */
  readonly start?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Other folders with hook files that a call touches. */
  readonly touched?: readonly string[]
  /** Repositories with trusted hook files. They count although their `.git` is gone. */
  readonly repositories?: readonly string[]
}

const MANAGED = '/etc/hookhelm'
/** The folder in a repository that holds its hook file. */
export const HOOK_FOLDER = '.hookhelm'
const FILE_NAMES = ['hooks.yaml', 'hooks.yml', 'hooks.json']

/** The folders to search for hook files, in the order of loading: the administrator's, the user's, the repository's. */
export function findHookFolders({
  cwd = process.cwd(),
  start = cwd,
  env = process.env,
  touched = [],
  repositories = [],
}: FindOptions = {}): HookFolder[] {
  // The variable adds a folder and never replaces one, so that setting it cannot switch managed hooks off.
  const managed = [MANAGED, ...absolute(env.HOOKHELM_MANAGED_DIR)]
  const own: readonly HookFolder[] = [
    ...managed.map((folder) => ({ level: 'managed' as const, folder, label: 'managed' })),
    { level: 'user', folder: userFolder(env), label: 'user' },
    ...workFolders(resolve(start), resolve(cwd), new Set(repositories)),
  ]
  const others = touched.map((path): HookFolder => {
    return { level: 'repository', folder: join(path, HOOK_FOLDER), label: path, otherFolder: path }
  })
  // The folder of the user may have the same name.
  return [...own, ...others.filter(({ folder }) => !own.some((known) => known.folder === folder))]
}

/** The file that stores trust. It belongs to the user and is never in a repository. */
export function trustFile(env: FindOptions['env'] = process.env): string {
  const [own] = absolute(env.HOOKHELM_HOME)
  if (own !== undefined) return join(own, 'trust.json')
  const [state] = absolute(env.XDG_STATE_HOME)
  return join(state ?? join(homeOf(env), '.local', 'state'), 'hookhelm', 'trust.json')
}

/** Where a gateway keeps its data. */
export function dataFolder(env: FindOptions['env'] = process.env): string {
  const [own] = absolute(env.HOOKHELM_HOME)
  if (own !== undefined) return own
  const [data] = absolute(env.XDG_DATA_HOME)
  return join(data ?? join(homeOf(env), '.local', 'share'), 'hookhelm')
}

/** The paths that a hook file in this folder may have. */
export function hookFileNames(folder: string): string[] {
  return FILE_NAMES.map((name) => join(folder, name))
}

/** The hook file of a folder, if it has one. Throws if there are two. */
export function hookFileIn(folder: string): string | undefined {
  const [file, second] = hookFileNames(folder).filter(pathExists)
  if (second !== undefined)
    throw handlerError('config.two_files', `both ${file} and ${second} exist; keep one of them`)
  return file
}

/** Throws if the path cannot be examined: that is not the same as a missing file. */
function pathExists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false
    throw unreadableFile(path, `cannot be examined: ${errorText(error)}`)
  }
}

function userFolder(env: NonNullable<FindOptions['env']>): string {
  const [own] = absolute(env.HOOKHELM_HOME)
  if (own !== undefined) return own
  const [config] = absolute(env.XDG_CONFIG_HOME)
  return join(config ?? join(homeOf(env), '.config'), 'hookhelm')
}

function homeOf(env: NonNullable<FindOptions['env']>): string {
  return absolute(env.HOME)[0] ?? homedir()
}

/** Ignores a relative path: it would mean another folder in every working directory. */
function absolute(path: string | undefined): string[] {
  return path !== undefined && isAbsolute(path) ? [path] : []
}

function workFolders(start: string, cwd: string, repositories: ReadonlySet<string>): HookFolder[] {
  const isRoot = (folder: string) => repositories.has(folder) || isRepository(folder)
  if (cwd === start || cwd.startsWith(join(start, '/')))
    return repositoryFolders(cwd, 'repository', (folder) => folder === start || isRoot(folder))
  const ofStart = repositoryFolders(start, 'repository', isRoot)
  const ofCwd = repositoryFolders(cwd, 'elsewhere', isRoot)
  return [...ofStart, ...ofCwd.filter(({ folder }) => !ofStart.some((known) => known.folder === folder))]
}

/**
 * Every folder from the root of the repository down to `cwd`. Hooks only add up, so a package cannot switch off those
 * of the repository around it. Nor can a repository inside another one, which an agent creates with one command: the
 * outermost root counts. Outside a repository only `cwd` itself does.
 */
function repositoryFolders(cwd: string, name: string, isRoot: (folder: string) => boolean): HookFolder[] {
  const ancestors = foldersDownTo(cwd)
  const root = ancestors.find(isRoot) ?? cwd
  return ancestors
    .filter((folder) => folder === root || folder.startsWith(join(root, '/')))
    .map((folder) => {
      const inside = relative(root, folder).replaceAll('\\', '/')
      return {
        level: 'repository' as const,
        folder: join(folder, HOOK_FOLDER),
        label: [name, inside].filter((part) => part !== '').join('/'),
      }
    })
}

/** The root of the outermost repository around a folder, if there is one. */
export function outermostRepository(folder: string): string | undefined {
  return foldersDownTo(folder).find(isRepository)
}

function isRepository(folder: string): boolean {
  return existsSync(join(folder, '.git'))
}

/** Every folder from the root of the file system down to this one. */
function foldersDownTo(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [...foldersDownTo(parent), folder]
}
