import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { AgentConfigFile, AgentHost, ConfigLevel, HostPaths } from '../../agents/agent-host.ts'
import { agentProfiles, findHost } from '../../agents/table.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { nearest } from '../../engine/core/values/nearest.ts'
import { socketPath } from '../../gateway/doors/socket/socket-path.ts'
import { dataFolder } from '../../hook-files/hook-folders.ts'
import type { Flags } from '../command.ts'

/** The flags that all commands about agents share, resolved. */
export interface AgentSelection {
  readonly paths: HostPaths
  readonly dataFolder: string
  readonly level: ConfigLevel
}

export const agentLevelArgs = {
  project: {
    type: 'boolean',
    description: 'use the configuration of this project, or of the folder that follows',
  },
  local: { type: 'boolean', description: "use a project's file that is not shared (Claude Code)" },
} as const

export function resolveSelection(
  { cwd = '.', project = false, local = false }: Flags<'cwd', 'project' | 'local'>,
  folder?: string,
): AgentSelection {
  const here = resolve(cwd)
  if (folder !== undefined && !project)
    throw serverError('connect.agent', `there is no agent called ${folder}`, {
      hint: 'If this is a folder, add --project.',
    })
  return {
    paths: {
      env: process.env,
      project: folder === undefined ? projectRoot(here) : resolve(here, folder),
      system: '/',
    },
    dataFolder: dataFolder(process.env),
    level: local ? 'local' : project ? 'project' : 'user',
  }
}

/** Splits the words of a command line into agent names and the folder for `--project`. */
export function splitAgentNames(rest: readonly string[]): {
  readonly names: readonly string[]
  readonly folder?: string
} {
  const isPath = (word: string) => /^\.{1,2}$|\//.test(word)
  // The parser drops the value of an optional-value flag.
  const given = process.argv.find((word) => word.startsWith('--project='))?.slice('--project='.length)
  const folder = given ?? rest.find(isPath)
  return { names: rest.filter((word) => !isPath(word)), ...(folder === undefined ? {} : { folder }) }
}

export function requireHost(name: string): AgentHost {
  const host = findHost(name)
  if (host !== undefined) return host
  const names = agentProfiles.map(({ adapter }) => adapter.name)
  const near = nearest(name, names)
  throw serverError('connect.agent', `there is no agent called ${name.slice(0, 80)}`, {
    hint: near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`,
  })
}

export function selectConfigFile(host: AgentHost, { paths, level }: AgentSelection): AgentConfigFile {
  const files = host.configFiles(paths)
  const config = files.find((each) => each.level === level)
  // In the home folder the project's file is the user's file.
  if (config !== undefined) return files.find(({ file }) => file === config.file) ?? config
  throw serverError('connect.agent', `${host.agent} has no configuration file at the level ${level}`, {
    hint: `It has one at ${files.map((each) => each.level).join(', ')}.`,
  })
}

/** The socket of this user's gateway, whether it runs or not. */
export function defaultSocket(env: HostPaths['env']): string {
  const uid = process.getuid?.() ?? 0
  return socketPath({ home: dataFolder(env), runtimeDir: env.XDG_RUNTIME_DIR, tempDir: tmpdir(), uid })
}

function projectRoot(from: string): string {
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return from
  }
}
