import { join } from 'node:path'
import {
  type AgentConfigFile,
  badFinding,
  type CommandHost,
  type ConfiguredHook,
  type HostFinding,
  type HostPaths,
} from '../agent-host.ts'
import { folderFromEnv, readTextOrEmpty } from '../config/host-settings.ts'

export const codexHost: CommandHost = {
  agent: 'codex',
  transport: 'command',
  programs: ['codex'],
  home: (env) => folderFromEnv(env, 'CODEX_HOME', '.codex'),
  configFiles: ({ env, project }) => [
    { level: 'user', file: join(codexHost.home(env), 'hooks.json') },
    { level: 'project', file: join(project, '.codex', 'hooks.json') },
  ],
  layout: 'groups',
  syntax: { onlyKeys: ['description', 'hooks'] },
  commandKey: 'command',
  timeout: { key: 'timeout', unitMs: 1_000 },
  always: { type: 'command' },
  closing: {},
  never: [],
  refusals: { PermissionRequest: 'permission' },
  hookEnvironment: () => ({}),
  trustNotice: (level) =>
    [
      'Codex silently skips every hook that you have not trusted: start `codex`, open /hooks and trust those of hookhelm.',
      'A change of our hooks needs trust again.',
      ...(level === 'user' ? [] : ['The project itself must be trusted too.']),
    ].join(' '),
  findDisabled: switches,
  findUntrusted: (where, place, ours) => [
    ...untrustedHooks(where, place, ours),
    ...untrustedProject(where, place),
  ],
}

function switches({ env, system }: HostPaths): HostFinding[] {
  const requirements = join(system, 'etc/codex/requirements.toml')
  const config = configFile(env)
  return [
    ...(/^\s*allow_managed_hooks_only\s*=\s*true\b/m.test(readTextOrEmpty(requirements))
      ? [
          badFinding(
            `${requirements} allows managed hooks only`,
            'Ask your administrator to put the hooks there.',
          ),
        ]
      : []),
    ...(isOff(readTextOrEmpty(config)) || isOff(readTextOrEmpty(requirements))
      ? [
          badFinding(
            'the feature `hooks` is switched off',
            `Remove \`hooks = false\` below [features] in ${config}.`,
          ),
        ]
      : []),
  ]
}

/** Codex stores trust per hook, under its file, event and position. Only Codex can check the hash. */
function untrustedHooks(
  { env }: HostPaths,
  { file }: AgentConfigFile,
  ours: readonly ConfiguredHook[],
): HostFinding[] {
  const config = readTextOrEmpty(configFile(env))
  const skipped = ours.filter(({ event, at }) => {
    const key = [file, snake(event), ...at].join(':')
    return !config.includes(JSON.stringify(key))
  })
  if (skipped.length === 0) return []
  const which = skipped.length === ours.length ? 'these hooks' : skipped.map(({ event }) => event).join(', ')
  return [
    badFinding(
      `Codex has not trusted ${which}, and skips them`,
      'Start `codex`, open /hooks and trust those of hookhelm.',
    ),
  ]
}

function untrustedProject({ env, project }: HostPaths, { level }: AgentConfigFile): HostFinding[] {
  const config = readTextOrEmpty(configFile(env))
  const table = config.split(`[projects.${JSON.stringify(project)}]`)[1]?.split(/^\s*\[/m)[0] ?? ''
  if (level === 'user' || /^\s*trust_level\s*=\s*"trusted"/m.test(table)) return []
  return [badFinding(`Codex has not trusted the project ${project}`, 'Start `codex` there and trust it.')]
}

function snake(event: string): string {
  return event.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
}

function isOff(toml: string): boolean {
  const features = toml.split(/^\s*\[features\]\s*$/m)[1]?.split(/^\s*\[/m)[0] ?? ''
  return /^\s*(?:codex_)?hooks\s*=\s*false\b/m.test(features)
}

function configFile(env: HostPaths['env']): string {
  return join(codexHost.home(env), 'config.toml')
}
