import { describe, expect, test } from 'vitest'
import type { ConfigLevel } from '../../src/agents/agent-host.ts'
import { findHost } from '../../src/agents/table.ts'
import { connect } from '../../src/connect/connection.ts'
import { findConnections } from '../../src/connect/find-connections.ts'
import { connectionOf } from './connections.fixture.ts'
import { type TemporaryHome, temporaryHome } from './home.fixture.ts'

/** What would keep the hooks of a fresh connection from running. */
function silences(home: TemporaryHome, agent: string, level: ConfigLevel = 'user'): string[] {
  const { config } = connectionOf(agent, home, { level })
  connect(connectionOf(agent, home, { level }))
  const { connected } = findConnections(home.paths, home.dataFolder, [agent])
  const ours = connected.find((each) => each.level === level)?.hooks ?? []
  const host = findHost(agent)!
  return [...host.findDisabled(home.paths, config), ...host.findUntrusted(home.paths, config, ours)].map(
    ({ text }) => text.replaceAll(home.folder, '~'),
  )
}

const commandAgents = ['claude-code', 'gemini-cli', 'copilot-cli', 'cursor', 'opencode', 'openclaw']

test.each(commandAgents)('%s: nothing, as it comes', (agent) => {
  expect(silences(temporaryHome(), agent)).toEqual([])
})

describe('Claude Code', () => {
  test('a switch in any of its files', () => {
    const home = temporaryHome()
    home.write('project/.claude/settings.local.json', '{ "disableAllHooks": true }')
    expect(silences(home, 'claude-code')).toEqual([
      'disableAllHooks is on in ~/project/.claude/settings.local.json',
    ])
  })

  test('an administrator who allows managed hooks only', () => {
    const home = temporaryHome()
    home.write('system/etc/claude-code/managed-settings.json', '{ "allowManagedHooksOnly": true }')
    expect(silences(home, 'claude-code')).toEqual([
      '~/system/etc/claude-code/managed-settings.json allows managed hooks only',
    ])
  })
})

describe('Codex', () => {
  const trusted = (home: TemporaryHome, file: string, only?: string) => {
    const { connected } = findConnections(home.paths, home.dataFolder, ['codex'])
    const hooks = connected.find((each) => each.file === file)?.hooks ?? []
    const snake = (event: string) => event.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase()
    return hooks
      .filter(({ event }) => only === undefined || event !== only)
      .map(
        ({ event, at }) =>
          `[hooks.state.${JSON.stringify([file, snake(event), ...at].join(':'))}]\ntrusted_hash = "sha256:0"\n`,
      )
      .join('')
  }

  test('every hook that nobody trusted', () => {
    const home = temporaryHome()
    expect(silences(home, 'codex')).toEqual(['Codex has not trusted these hooks, and skips them'])
    const file = home.path('.codex/hooks.json')
    home.write('.codex/config.toml', trusted(home, file, 'PreToolUse'))
    expect(silences(home, 'codex')).toEqual(['Codex has not trusted PreToolUse, and skips them'])
    home.write('.codex/config.toml', trusted(home, file))
    expect(silences(home, 'codex')).toEqual([])
  })

  test('its feature switched off, managed hooks only, and a project that is not trusted', () => {
    const home = temporaryHome()
    silences(home, 'codex', 'project')
    const trust = trusted(home, home.path('project/.codex/hooks.json'))
    home.write('.codex/config.toml', `${trust}[features]\nhooks = false\n`)
    home.write('system/etc/codex/requirements.toml', 'allow_managed_hooks_only = true\n')
    expect(silences(home, 'codex', 'project')).toEqual([
      '~/system/etc/codex/requirements.toml allows managed hooks only',
      'the feature `hooks` is switched off',
      'Codex has not trusted the project ~/project',
    ])
    const project = `[projects.${JSON.stringify(home.project)}]\ntrust_level = "trusted"\n`
    home.write('.codex/config.toml', trust + project)
    home.write('system/etc/codex/requirements.toml', '')
    expect(silences(home, 'codex', 'project')).toEqual([])
  })
})

describe('Gemini CLI', () => {
  test('its switches', () => {
    const home = temporaryHome()
    home.write('.gemini/settings.json', '{ "hooksConfig": { "enabled": false, "disabled": ["hookhelm"] } }')
    expect(silences(home, 'gemini-cli')).toEqual([
      'hooksConfig.enabled is false in ~/.gemini/settings.json',
      'hookhelm is in hooksConfig.disabled of ~/.gemini/settings.json',
    ])
  })

  test('a folder that is not trusted', () => {
    const home = temporaryHome()
    expect(silences(home, 'gemini-cli', 'project')).toEqual([
      'Gemini CLI has not trusted ~/project, and ignores its settings',
    ])
    home.write('.gemini/trustedFolders.json', JSON.stringify({ [home.folder]: 'TRUST_FOLDER' }))
    expect(silences(home, 'gemini-cli', 'project')).toEqual([])
  })

  test('a file with the switches of older versions can be connected', () => {
    const home = temporaryHome()
    home.write('.gemini/settings.json', '{ "hooks": { "enabled": true, "disabled": ["x"] } }')
    expect(silences(home, 'gemini-cli')).toEqual([])
  })
})

describe('Copilot CLI', () => {
  test('its switch, and a folder that is not trusted', () => {
    const home = temporaryHome()
    // Copilot CLI ignores it there.
    home.write('.copilot/settings.json', '{ "disableAllHooks": true }')
    home.write('project/.claude/settings.json', '{ "disableAllHooks": true }')
    home.write('project/.github/copilot/settings.local.json', '{ "disableAllHooks": true }')
    expect(silences(home, 'copilot-cli', 'project')).toEqual([
      'disableAllHooks is on in ~/project/.github/copilot/settings.local.json',
      'disableAllHooks is on in ~/project/.claude/settings.json',
      'Copilot CLI has not trusted ~/project, and does not load its hooks',
    ])
    home.write('project/.claude/settings.json', '{}')
    home.write('project/.github/copilot/settings.local.json', '{}')
    home.write('.copilot/config.json', JSON.stringify({ trusted_folders: [home.project] }))
    expect(silences(home, 'copilot-cli', 'project')).toEqual([])
  })
})

test('OpenClaw: plugins switched off or denied', () => {
  const home = temporaryHome()
  home.write('.openclaw/openclaw.json', '{ "plugins": { "enabled": false, "deny": ["hookhelm"] } }')
  expect(silences(home, 'openclaw')).toEqual([
    'plugins.enabled is false in ~/.openclaw/openclaw.json',
    'plugins.deny names hookhelm in ~/.openclaw/openclaw.json',
  ])
})
