import { join } from 'node:path'
import type { CommandHost, Finding, Place, Where } from '../host.ts'
import { off, settingsIn, textsUnder, underHome } from './config-places.ts'

export const copilotCliHost: CommandHost = {
  agent: 'copilot-cli',
  transport: 'command',
  programs: ['copilot'],
  home: (env) => underHome(env, '.copilot'),
  places: ({ env, project }) => [
    { level: 'user', file: join(copilotCliHost.home(env), 'hooks', 'hookhelm.json') },
    { level: 'project', file: join(project, '.github', 'hooks', 'hookhelm.json') },
  ],
  layout: 'flat',
  reads: {},
  preamble: { version: 1 },
  ownFile: true,
  form: { kind: 'shell', key: 'bash' },
  timeout: { key: 'timeoutSec', unitMs: 1_000 },
  always: { type: 'command' },
  closing: {},
  // The same events again, under the names that other agents have for them.
  never: [
    ...['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PermissionRequest', 'UserPromptSubmit', 'Stop'],
    ...['SessionStart', 'SessionEnd', 'SubagentStop', 'PreCompact', 'ErrorOccurred', 'Notification'],
  ],
  // Only before a tool is an exit code honoured.
  refusals: { permissionRequest: 'permission-camel', userPromptSubmitted: 'decision' },
  hookEnvironment: ({ project }) => ({ COPILOT_PROJECT_DIR: project, CLAUDE_PROJECT_DIR: project }),
  trust: (level) =>
    level === 'user'
      ? undefined
      : 'Copilot CLI loads hooks of a repository only in a folder that you have trusted, and says nothing otherwise.',
  switchedOff: switches,
  untrusted,
}

function switches({ env, project }: Where, { file }: Place): Finding[] {
  const files = [
    file,
    join(copilotCliHost.home(env), 'settings.json'),
    join(project, '.github', 'copilot', 'settings.json'),
    join(project, '.github', 'copilot', 'settings.local.json'),
  ]
  return files
    .filter((each) => settingsIn(each).disableAllHooks === true)
    .map((each) => off(`disableAllHooks is on in ${each}`, 'Remove it there.'))
}

function untrusted({ env, project }: Where, { level }: Place): Finding[] {
  if (level === 'user') return []
  const config = settingsIn(join(copilotCliHost.home(env), 'config.json'))
  const folders = ['trusted_folders', 'trustedFolders'].flatMap((key) => textsUnder(config, key))
  if (folders.some((folder) => project === folder || project.startsWith(join(folder, '/')))) return []
  return [
    off(
      `Copilot CLI has not trusted ${project}, and does not load its hooks`,
      'Start `copilot` there and trust the folder.',
    ),
  ]
}
