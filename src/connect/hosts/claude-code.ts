import { join } from 'node:path'
import type { CommandHost, Finding, Where } from '../host.ts'
import { folderOf, off, settingsIn } from './config-places.ts'

export const claudeCodeHost: CommandHost = {
  agent: 'claude-code',
  transport: 'command',
  programs: ['claude'],
  home: (env) => folderOf(env, 'CLAUDE_CONFIG_DIR', '.claude'),
  places: ({ env, project }) => [
    { level: 'user', file: join(claudeCodeHost.home(env), 'settings.json') },
    { level: 'project', file: join(project, '.claude', 'settings.json') },
    { level: 'local', file: join(project, '.claude', 'settings.local.json') },
  ],
  layout: 'groups',
  reads: { mark: true },
  form: { kind: 'exec' },
  timeout: { key: 'timeout', unitMs: 1_000 },
  always: { type: 'command' },
  // Without it a crash of the client or a timeout would let the call pass.
  closing: { onFailure: 'block' },
  // A hook there has to make the work tree itself.
  never: ['WorktreeCreate'],
  refusals: { PermissionRequest: 'permission' },
  hookEnvironment: ({ project }) => ({ CLAUDE_PROJECT_DIR: project, CLAUDECODE: '1' }),
  trust: (level) =>
    level === 'user'
      ? undefined
      : 'Claude Code uses hooks of a project once you have trusted its folder. Copilot CLI and Cursor read this file too.',
  switchedOff: (where) => [...switches(where), ...managed(where)],
  // Whether a folder is trusted matters only to a person at its terminal, who is asked.
  untrusted: () => [],
}

function switches(where: Where): Finding[] {
  return claudeCodeHost
    .places(where)
    .filter(({ file }) => settingsIn(file).disableAllHooks === true)
    .map(({ file }) => off(`disableAllHooks is on in ${file}`, 'Remove it there.'))
}

/** Where an administrator's settings lie, on Linux and on macOS. */
function managed({ system }: Where): Finding[] {
  const folders = ['etc/claude-code', 'Library/Application Support/ClaudeCode']
  return folders.flatMap((folder) => {
    const file = join(system, folder, 'managed-settings.json')
    const { allowManagedHooksOnly, disableAllHooks } = settingsIn(file)
    return [
      ...(allowManagedHooksOnly === true
        ? [off(`${file} allows managed hooks only`, 'Ask your administrator to put the hooks there.')]
        : []),
      ...(disableAllHooks === true
        ? [off(`disableAllHooks is on in ${file}`, 'Ask your administrator.')]
        : []),
    ]
  })
}
