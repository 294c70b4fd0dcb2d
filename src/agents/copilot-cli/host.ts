import { join } from 'node:path'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import {
  type AgentConfigFile,
  badFinding,
  type CommandHost,
  type HostFinding,
  type HostPaths,
} from '../agent-host.ts'
import { readSettings, stringsAtPath, underHome } from '../config/host-settings.ts'

export const copilotCliHost: CommandHost = {
  agent: 'copilot-cli',
  transport: 'command',
  programs: ['copilot'],
  home: (env) => underHome(env, '.copilot'),
  configFiles: ({ env, project }) => [
    { level: 'user', file: join(copilotCliHost.home(env), 'hooks', 'hookhelm.json') },
    { level: 'project', file: join(project, '.github', 'hooks', 'hookhelm.json') },
  ],
  alsoReads: ({ project }) =>
    ['settings.json', 'settings.local.json'].map((name) => join(project, '.claude', name)),
  layout: 'flat',
  syntax: {},
  preamble: { version: 1 },
  ownFile: true,
  commandKey: 'bash',
  timeout: { key: 'timeoutSec', unitMs: 1_000 },
  always: { type: 'command' },
  closing: {},
  // Duplicates: the same events under the names of other agents.
  never: [
    ...['PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PermissionRequest', 'UserPromptSubmit', 'Stop'],
    ...['SessionStart', 'SessionEnd', 'SubagentStart', 'SubagentStop', 'PreCompact'],
    ...['ErrorOccurred', 'Notification'],
  ],
  // Copilot CLI honours exit codes only before a tool call, and shows only the code, not the reason.
  refusals: { preToolUse: 'tool', permissionRequest: 'permission-camel', userPromptSubmitted: 'decision' },
  hookEnvironment: ({ project }) => ({ COPILOT_PROJECT_DIR: project, CLAUDE_PROJECT_DIR: project }),
  samplePayload: ({ session_id, cwd, tool_name, tool_input, prompt }) => ({
    sessionId: session_id,
    timestamp: 0,
    cwd,
    ...(tool_name === undefined ? {} : { toolName: tool_name, toolArgs: tool_input, toolInput: tool_input }),
    ...definedFields({ prompt }),
  }),
  trustNotice: (level) =>
    level === 'user'
      ? undefined
      : 'Copilot CLI loads hooks of a repository only in a folder that you have trusted, and says nothing otherwise.',
  findDisabled: switches,
  findUntrusted: untrusted,
}

/** Copilot CLI ignores `disableAllHooks` in the user's own settings, and honours it in Claude Code's, as observed. */
function switches({ project }: HostPaths, { file }: AgentConfigFile): HostFinding[] {
  const folders = [join(project, '.github', 'copilot'), join(project, '.claude')]
  const names = ['settings.json', 'settings.local.json']
  const files = [file, ...folders.flatMap((folder) => names.map((name) => join(folder, name)))]
  return files
    .filter((each) => readSettings(each).disableAllHooks === true)
    .map((each) => badFinding(`disableAllHooks is on in ${each}`, 'Remove it there.'))
}

function untrusted({ env, project }: HostPaths, { level }: AgentConfigFile): HostFinding[] {
  if (level === 'user') return []
  const config = readSettings(join(copilotCliHost.home(env), 'config.json'))
  const folders = ['trusted_folders', 'trustedFolders'].flatMap((key) => stringsAtPath(config, key))
  if (folders.some((folder) => project === folder || project.startsWith(join(folder, '/')))) return []
  return [
    badFinding(
      `Copilot CLI has not trusted ${project}, and does not load its hooks`,
      'Start `copilot` there and trust the folder.',
    ),
  ]
}
