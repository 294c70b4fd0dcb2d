import { dirname, join } from 'node:path'
import {
  type AgentConfigFile,
  badFinding,
  type CommandHost,
  type HostFinding,
  type HostPaths,
} from '../agent-host.ts'
import { readSettings, stringsAtPath, underHome, valueAtPath } from '../config/host-settings.ts'

/** The name in Gemini CLI's list of hooks, which also disables single hooks by name. */
const NAME = 'hookhelm'

export const geminiCliHost: CommandHost = {
  agent: 'gemini-cli',
  transport: 'command',
  programs: ['gemini'],
  home: (env) => underHome(env, '.gemini'),
  configFiles: ({ env, project }) => [
    { level: 'user', file: join(geminiCliHost.home(env), 'settings.json') },
    { level: 'project', file: join(project, '.gemini', 'settings.json') },
  ],
  layout: 'groups',
  syntax: { comments: true },
  // Older versions kept the settings here.
  notEvents: ['enabled', 'disabled', 'notifications'],
  commandKey: 'command',
  timeout: { key: 'timeout', unitMs: 1 },
  always: { type: 'command', name: NAME },
  closing: {},
  never: [],
  refusals: {},
  hookEnvironment: ({ project }) => ({
    GEMINI_PROJECT_DIR: project,
    GEMINI_CWD: project,
    CLAUDE_PROJECT_DIR: project,
  }),
  trustNotice: (level) =>
    level === 'user'
      ? undefined
      : 'Gemini CLI reads settings of a project only in a folder that you have trusted.',
  findDisabled: switches,
  findUntrusted: untrusted,
}

function switches(where: HostPaths): HostFinding[] {
  const system = join(where.system, 'etc/gemini-cli/settings.json')
  return [...geminiCliHost.configFiles(where).map(({ file }) => file), system].flatMap((file) => {
    const settings = readSettings(file)
    const isOff = ['hooksConfig', 'hooks'].some((key) => valueAtPath(settings, key, 'enabled') === false)
    const disabled = ['hooksConfig', 'hooks'].flatMap((key) => stringsAtPath(settings, key, 'disabled'))
    return [
      ...(isOff ? [badFinding(`hooksConfig.enabled is false in ${file}`, 'Remove it there.')] : []),
      ...(disabled.some((name) => name === NAME || name.includes('hookhelm-hook'))
        ? [
            badFinding(
              `hookhelm is in hooksConfig.disabled of ${file}`,
              'Remove it there, or use /hooks enable.',
            ),
          ]
        : []),
    ]
  })
}

function untrusted(where: HostPaths, { level }: AgentConfigFile): HostFinding[] {
  const user = readSettings(join(geminiCliHost.home(where.env), 'settings.json'))
  const isAsked = valueAtPath(user, 'security', 'folderTrust', 'enabled') !== false
  const folders = readSettings(join(geminiCliHost.home(where.env), 'trustedFolders.json'))
  if (level === 'user' || !isAsked || isTrusted(folders, where.project)) return []
  return [
    badFinding(
      `Gemini CLI has not trusted ${where.project}, and ignores its settings`,
      'Start `gemini` there and trust the folder.',
    ),
  ]
}

/** Trust applies to a folder and everything below it, or to its parent. */
function isTrusted(folders: Readonly<Record<string, unknown>>, project: string): boolean {
  const isBelow = (folder: string) => project === folder || project.startsWith(join(folder, '/'))
  return Object.entries(folders).some(
    ([folder, trust]) =>
      (trust === 'TRUST_FOLDER' && isBelow(folder)) || (trust === 'TRUST_PARENT' && isBelow(dirname(folder))),
  )
}
