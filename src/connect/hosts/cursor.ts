import { join } from 'node:path'
import type { CommandHost } from '../host.ts'
import { underHome } from './config-places.ts'

export const cursorHost: CommandHost = {
  agent: 'cursor',
  transport: 'command',
  programs: ['cursor-agent', 'cursor'],
  home: (env) => underHome(env, '.cursor'),
  places: ({ env, project }) => [
    { level: 'user', file: join(cursorHost.home(env), 'hooks.json') },
    { level: 'project', file: join(project, '.cursor', 'hooks.json') },
  ],
  layout: 'flat',
  reads: {},
  preamble: { version: 1 },
  form: { kind: 'shell', key: 'command' },
  timeout: { key: 'timeout', unitMs: 1_000 },
  always: {},
  closing: { failClosed: true },
  // They tell of calls that preToolUse and postToolUse tell of already.
  never: ['beforeShellExecution', 'beforeReadFile', 'afterShellExecution', 'afterMCPExecution'],
  refusals: {},
  hookEnvironment: ({ project }) => ({ CURSOR_PROJECT_DIR: project, CLAUDE_PROJECT_DIR: project }),
  trust: (level) =>
    level === 'user'
      ? undefined
      : 'Cursor runs hooks of a project only in a workspace that you have trusted.',
  // It has no switch for hooks, and keeps its trust where nobody else can read it.
  switchedOff: () => [],
  untrusted: () => [],
}
