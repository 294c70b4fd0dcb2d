import { dirname } from 'node:path'
import type { AgentConfigFile, AgentHost, HostPaths } from '../agents/agent-host.ts'
import { quoteWord } from './hook-command.ts'

/** The command line for `connect` or `disconnect` of one configuration file, as a person would type it here. */
export function connectLine(
  verb: 'connect' | 'disconnect',
  { agent, config, paths, flags = [] }: ConnectLineOptions,
): string {
  const words = ['hookhelm', verb, agent, ...levelFlags(config, paths), ...(verb === 'connect' ? flags : [])]
  return words.map(quoteWord).join(' ')
}

export interface ConnectLineOptions {
  readonly agent: string
  readonly config: AgentConfigFile & { readonly project?: string }
  readonly paths: HostPaths
  readonly flags?: readonly string[]
}

function levelFlags({ level, project }: ConnectLineOptions['config'], paths: HostPaths): string[] {
  if (level === 'user') return []
  const isHere = project === undefined || project === paths.project
  if (isHere) return [`--${level}`]
  return level === 'local' ? ['--local', '--project', project] : ['--project', project]
}

/** The project that a configuration file belongs to. Undefined if no project has such a file. */
export function projectOf(
  host: AgentHost,
  { level, file }: AgentConfigFile,
  paths: HostPaths,
): string | undefined {
  for (let at = dirname(file); ; at = dirname(at)) {
    const files = host.configFiles({ ...paths, project: at })
    if (files.some((config) => config.level === level && config.file === file)) return at
    if (dirname(at) === at) return undefined
  }
}
