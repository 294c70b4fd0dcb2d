import { join } from 'node:path'
import type { CommandHost } from '../agent-host.ts'
import { underHome } from '../config/host-settings.ts'

export const cursorHost: CommandHost = {
  agent: 'cursor',
  transport: 'command',
  programs: ['cursor-agent', 'cursor'],
  home: (env) => underHome(env, '.cursor'),
  configFiles: ({ env, project }) => [
    { level: 'user', file: join(cursorHost.home(env), 'hooks.json') },
    { level: 'project', file: join(project, '.cursor', 'hooks.json') },
  ],
  layout: 'flat',
  syntax: {},
  preamble: { version: 1 },
  commandKey: 'command',
  timeout: { key: 'timeout', unitMs: 1_000 },
  always: {},
  closing: { failClosed: true },
  // Duplicates of preToolUse and postToolUse.
  never: ['beforeShellExecution', 'beforeReadFile', 'afterShellExecution', 'afterMCPExecution'],
  refusals: {},
  hookEnvironment: ({ project }) => ({ CURSOR_PROJECT_DIR: project, CLAUDE_PROJECT_DIR: project }),
  samplePayload: (sample) => ({
    ...sample,
    conversation_id: sample.session_id,
    workspace_roots: [sample.cwd],
  }),
  trustNotice: (level) =>
    level === 'user'
      ? undefined
      : 'Cursor runs hooks of a project only in a workspace that you have trusted.',
  // Cursor has no setting that disables hooks, and no other program can read its trust store.
  findDisabled: () => [],
  findUntrusted: () => [],
}
