import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { errorText, HookError } from '../engine/core/error.ts'
import { type Level, unreadable } from './read/load.ts'

/** A folder that may hold one hook file. */
export interface HookPlace {
  readonly level: Level
  readonly folder: string
  /** What hooks without an id of their own are called after. */
  readonly label: string
}

export interface FindOptions {
  readonly cwd?: string
  /** Where a session began that is in `cwd` now: whoever moves on leaves no hooks behind. */
  readonly start?: string
  readonly env?: Readonly<Record<string, string | undefined>>
}

const MANAGED = '/etc/hookhelm'
const FILE_NAMES = ['hooks.yaml', 'hooks.yml', 'hooks.json']

/** Where hook files are looked for, in the order they are loaded: the administrator's, the user's, the repository's. */
export function findHookPlaces({
  cwd = process.cwd(),
  start = cwd,
  env = process.env,
}: FindOptions = {}): HookPlace[] {
  // The variable adds a folder and never replaces one: nobody escapes managed hooks by setting it.
  const managed = [MANAGED, ...absolute(env.HOOKHELM_MANAGED_DIR)]
  return [
    ...managed.map((folder) => ({ level: 'managed' as const, folder, label: 'managed' })),
    { level: 'user', folder: userFolder(env), label: 'user' },
    ...workPlaces(resolve(start), resolve(cwd)),
  ]
}

/** Where trust is remembered: with the user, never in a repository. */
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

export function hookFileNames(folder: string): string[] {
  return FILE_NAMES.map((name) => join(folder, name))
}

/** The one hook file of a folder, if there is one. */
export function hookFileIn(folder: string): string | undefined {
  const [file, second] = hookFileNames(folder).filter(isThere)
  if (second !== undefined)
    throw new HookError('config.two_files', `both ${file} and ${second} exist, and only one may`)
  return file
}

/** A file that is there but cannot be looked at is not a file that is missing. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return false
    throw unreadable(path, `cannot be looked at: ${errorText(error)}`)
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

/** A relative path would mean another folder in every directory. */
function absolute(path: string | undefined): string[] {
  return path !== undefined && isAbsolute(path) ? [path] : []
}

function workPlaces(start: string, cwd: string): HookPlace[] {
  if (cwd === start || cwd.startsWith(join(start, '/'))) return repositoryPlaces(cwd, 'repository', start)
  const here = repositoryPlaces(start, 'repository')
  const elsewhere = repositoryPlaces(cwd, 'elsewhere')
  return [...here, ...elsewhere.filter(({ folder }) => !here.some((place) => place.folder === folder))]
}

/**
 * Every folder from the root of the repository down to `cwd`: hooks only add, so a package cannot switch off those of
 * the repository around it. Nor can a repository inside of another one, which an agent makes with one command: the
 * outermost root counts. Outside of a repository only `cwd` itself does.
 */
function repositoryPlaces(cwd: string, name: string, start = cwd): HookPlace[] {
  const above = [cwd]
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder)) above.unshift(dirname(folder))
  const root = above.find((folder) => folder === start || existsSync(join(folder, '.git'))) ?? cwd
  return above
    .filter((folder) => folder === root || folder.startsWith(join(root, '/')))
    .map((folder) => {
      const inside = relative(root, folder).replaceAll('\\', '/')
      return {
        level: 'repository' as const,
        folder: join(folder, '.hookhelm'),
        label: [name, inside].filter((part) => part !== '').join('/'),
      }
    })
}
