import { join } from 'node:path'
import type { CommandHost, Finding, Place, Where } from '../host.ts'
import type { PlacedHook } from '../text/hook-lists.ts'
import { folderOf, off, textIn } from './config-places.ts'

export const codexHost: CommandHost = {
  agent: 'codex',
  transport: 'command',
  programs: ['codex'],
  home: (env) => folderOf(env, 'CODEX_HOME', '.codex'),
  places: ({ env, project }) => [
    { level: 'user', file: join(codexHost.home(env), 'hooks.json') },
    { level: 'project', file: join(project, '.codex', 'hooks.json') },
  ],
  layout: 'groups',
  reads: { onlyKeys: ['description', 'hooks'] },
  form: { kind: 'shell', key: 'command' },
  timeout: { key: 'timeout', unitMs: 1_000 },
  always: { type: 'command' },
  closing: {},
  never: [],
  refusals: { PermissionRequest: 'permission' },
  hookEnvironment: () => ({}),
  trust: (level) =>
    [
      'Codex silently skips every hook that you have not trusted: start `codex`, open /hooks and trust those of hookhelm.',
      'A change of our hooks needs trust again.',
      ...(level === 'user' ? [] : ['The project itself must be trusted too.']),
    ].join(' '),
  switchedOff: switches,
  untrusted: (where, place, ours) => [
    ...untrustedHooks(where, place, ours),
    ...untrustedProject(where, place),
  ],
}

function switches({ env, system }: Where): Finding[] {
  const requirements = join(system, 'etc/codex/requirements.toml')
  const config = configFile(env)
  return [
    ...(/^\s*allow_managed_hooks_only\s*=\s*true\b/m.test(textIn(requirements))
      ? [off(`${requirements} allows managed hooks only`, 'Ask your administrator to put the hooks there.')]
      : []),
    ...(isOff(textIn(config)) || isOff(textIn(requirements))
      ? [
          off(
            'the feature `hooks` is switched off',
            `Remove \`hooks = false\` below [features] in ${config}.`,
          ),
        ]
      : []),
  ]
}

/** Trust is kept per hook, under its file, event and position. Whether the hash still fits only Codex can say. */
function untrustedHooks({ env }: Where, { file }: Place, ours: readonly PlacedHook[]): Finding[] {
  const config = textIn(configFile(env))
  const skipped = ours.filter(({ event, at }) => {
    const key = [file, snake(event), ...at].join(':')
    return !config.includes(JSON.stringify(key))
  })
  if (skipped.length === 0) return []
  const which = skipped.length === ours.length ? 'these hooks' : skipped.map(({ event }) => event).join(', ')
  return [
    off(
      `Codex has not trusted ${which}, and skips them`,
      'Start `codex`, open /hooks and trust those of hookhelm.',
    ),
  ]
}

function untrustedProject({ env, project }: Where, { level }: Place): Finding[] {
  const config = textIn(configFile(env))
  const table = config.split(`[projects.${JSON.stringify(project)}]`)[1]?.split(/^\s*\[/m)[0] ?? ''
  if (level === 'user' || /^\s*trust_level\s*=\s*"trusted"/m.test(table)) return []
  return [off(`Codex has not trusted the project ${project}`, 'Start `codex` there and trust it.')]
}

function snake(event: string): string {
  return event.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
}

function isOff(toml: string): boolean {
  const features = toml.split(/^\s*\[features\]\s*$/m)[1]?.split(/^\s*\[/m)[0] ?? ''
  return /^\s*(?:codex_)?hooks\s*=\s*false\b/m.test(features)
}

function configFile(env: Where['env']): string {
  return join(codexHost.home(env), 'config.toml')
}
