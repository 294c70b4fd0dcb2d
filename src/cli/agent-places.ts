import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Host, Level, Place, Where } from '../agents/connect/host.ts'
import { hostNamed, hosts } from '../agents/connect/hosts/table.ts'
import { dataFolder } from '../config/hook-folders.ts'
import { nearest } from '../engine/core/nearest.ts'
import { serverError } from '../engine/core/server-errors.ts'
import { socketPath } from '../gateway/socket/socket-path.ts'

interface Given {
  readonly cwd?: string | undefined
  readonly project?: boolean | undefined
  readonly local?: boolean | undefined
}

/** What is meant by the flags that all commands about agents share. */
export interface Meant {
  readonly where: Where
  readonly dataFolder: string
  readonly level: Level
}

export const placeArgs = {
  project: { type: 'boolean', description: 'in the project around here, or the folder that follows' },
  local: { type: 'boolean', description: "a project's file that is not shared (Claude Code)" },
} as const

export function meantBy({ cwd = '.', project = false, local = false }: Given, folder?: string): Meant {
  const here = resolve(cwd)
  if (folder !== undefined && !project)
    throw serverError('connect.agent', `there is no agent ${folder}`, {
      hint: 'A folder goes with --project.',
    })
  return {
    where: {
      env: process.env,
      project: folder === undefined ? projectRoot(here) : resolve(here, folder),
      system: '/',
    },
    dataFolder: dataFolder(process.env),
    level: local ? 'local' : project ? 'project' : 'user',
  }
}

/** Which agents are named; a path among the names is the folder that `--project` is about. */
export function named(rest: readonly string[]): {
  readonly names: readonly string[]
  readonly folder?: string
} {
  const isPath = (word: string) => /^\.{1,2}$|\//.test(word)
  // The parser drops the value of a flag that may stand alone.
  const given = process.argv.find((word) => word.startsWith('--project='))?.slice('--project='.length)
  const folder = given ?? rest.find(isPath)
  return { names: rest.filter((word) => !isPath(word)), ...(folder === undefined ? {} : { folder }) }
}

export function requireHost(name: string): Host {
  const host = hostNamed(name)
  if (host !== undefined) return host
  const names = hosts.map(({ agent }) => agent)
  const near = nearest(name, names)
  throw serverError('connect.agent', `there is no agent ${name.slice(0, 80)}`, {
    hint: near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`,
  })
}

export function placeOf(host: Host, { where, level }: Meant): Place {
  const places = host.places(where)
  const place = places.find((each) => each.level === level)
  // In the home folder the project's file is the user's.
  if (place !== undefined) return places.find(({ file }) => file === place.file) ?? place
  throw serverError('connect.agent', `${host.agent} has no configuration of its own at the level ${level}`, {
    hint: `It has one at ${host
      .places(where)
      .map((each) => each.level)
      .join(', ')}.`,
  })
}

/** Where the gateway of this user listens, whether it runs or not. */
export function defaultSocket(env: Where['env']): string {
  const uid = process.getuid?.() ?? 0
  return socketPath({ home: dataFolder(env), runtimeDir: env.XDG_RUNTIME_DIR, tempDir: tmpdir(), uid })
}

function projectRoot(from: string): string {
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return from
  }
}
