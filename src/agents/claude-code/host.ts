import { join } from 'node:path'
import { badFinding, type CommandHost, type HostFinding, type HostPaths } from '../agent-host.ts'
import { folderFromEnv, readSettings } from '../config/host-settings.ts'

export const claudeCodeHost: CommandHost = {
  agent: 'claude-code',
  transport: 'command',
  programs: ['claude'],
  installFolders: ['.claude/local'],
  home: (env) => folderFromEnv(env, 'CLAUDE_CONFIG_DIR', '.claude'),
  configFiles: ({ env, project }) => [
    { level: 'user', file: join(claudeCodeHost.home(env), 'settings.json') },
    { level: 'project', file: join(project, '.claude', 'settings.json') },
    { level: 'local', file: join(project, '.claude', 'settings.local.json') },
  ],
  layout: 'groups',
  syntax: { byteOrderMark: true },
  commandKey: 'command',
  timeout: { key: 'timeout', unitMs: 1_000 },
  always: { type: 'command' },
  // Otherwise a crash or timeout of the client would allow the call.
  closing: { onFailure: 'block' },
  // A hook on this event would have to create the work tree itself.
  never: ['WorktreeCreate'],
  // Copilot CLI and Cursor run these entries too. These formats hold what each of them honours.
  refusals: { PreToolUse: 'tool', PermissionRequest: 'permission-any', UserPromptSubmit: 'prompt' },
  hookEnvironment: ({ project }) => ({ CLAUDE_PROJECT_DIR: project, CLAUDECODE: '1' }),
  trustNotice: (level) =>
    level === 'user'
      ? undefined
      : 'Claude Code uses hooks of a project once you have trusted its folder. Copilot CLI and Cursor read this file too.',
  findDisabled: (where) => [...switches(where), ...managed(where)],
  // Claude Code asks for trust in its terminal, so there is nothing to report.
  findUntrusted: () => [],
}

function switches(where: HostPaths): HostFinding[] {
  return claudeCodeHost
    .configFiles(where)
    .filter(({ file }) => readSettings(file).disableAllHooks === true)
    .map(({ file }) => badFinding(`disableAllHooks is on in ${file}`, 'Remove it there.'))
}

/** The folders of administrator settings on Linux and macOS. */
function managed({ system }: HostPaths): HostFinding[] {
  const folders = ['etc/claude-code', 'Library/Application Support/ClaudeCode']
  return folders.flatMap((folder) => {
    const file = join(system, folder, 'managed-settings.json')
    const { allowManagedHooksOnly, disableAllHooks } = readSettings(file)
    return [
      ...(allowManagedHooksOnly === true
        ? [badFinding(`${file} allows managed hooks only`, 'Ask your administrator to put the hooks there.')]
        : []),
      ...(disableAllHooks === true
        ? [badFinding(`disableAllHooks is on in ${file}`, 'Ask your administrator.')]
        : []),
    ]
  })
}
