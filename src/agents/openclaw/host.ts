import { basename, isAbsolute, join } from 'node:path'
import { type AgentConfigFile, badFinding, type HostFinding, type PluginHost } from '../agent-host.ts'
import { readSettings, stringsAtPath, underHome, valueAtPath } from '../config/host-settings.ts'
import { bundlePlugin, type PluginFile, type PluginSettings } from '../plugin/plugin-files.ts'

/** The plugin's id in `plugins.entries`. */
const PLUGIN_ID = 'hookhelm'
/** Identifies our entry in `plugins.load.paths`, whatever the data folder is. */
const FOLDER = 'hookhelm-openclaw'

export const openclawHost: PluginHost = {
  agent: 'openclaw',
  transport: 'plugin',
  programs: ['openclaw'],
  home: (env) => underHome(env, '.openclaw'),
  configFiles: ({ env }) => {
    const named = env.OPENCLAW_CONFIG_PATH
    const file =
      named !== undefined && isAbsolute(named) ? named : join(openclawHost.home(env), 'openclaw.json')
    return [{ level: 'user', file }]
  },
  pluginFolder: (_config, dataFolder) => join(dataFolder, 'plugins', FOLDER),
  entryFile: 'index.js',
  pluginFiles: openclawPluginFiles,
  configEdits: (folder) => [
    {
      kind: 'item',
      path: ['plugins', 'load', 'paths'],
      item: folder,
      isOurs: (item) => typeof item === 'string' && basename(item) === FOLDER,
    },
    {
      kind: 'value',
      path: ['plugins', 'entries', PLUGIN_ID],
      // Without `allowConversationAccess` OpenClaw does not run a plugin's hooks on prompts.
      value: { enabled: true, hooks: { allowConversationAccess: true } },
    },
    {
      kind: 'item',
      path: ['plugins', 'allow'],
      item: PLUGIN_ID,
      isOurs: (item) => item === PLUGIN_ID,
      onlyIfListed: true,
    },
  ],
  trustNotice: () => undefined,
  findDisabled: (_paths, config) => disabledPlugins(config),
  findUntrusted: () => [],
}

function openclawPluginFiles(settings: PluginSettings): readonly PluginFile[] {
  const packageJson = {
    name: PLUGIN_ID,
    version: settings.version,
    private: true,
    type: 'module',
    openclaw: { extensions: ['./index.js'] },
  }
  const manifest = {
    id: PLUGIN_ID,
    name: 'Hookhelm',
    description: 'Every tool call passes your hooks.',
    activation: { onStartup: true },
    configSchema: { type: 'object', additionalProperties: false },
    contracts: { agentToolResultMiddleware: ['openclaw', 'codex'] },
  }
  return [
    { path: 'package.json', text: prettyJson(packageJson) },
    { path: 'openclaw.plugin.json', text: prettyJson(manifest) },
    { path: 'index.js', text: bundlePlugin(new URL('./plugin.js', import.meta.url), settings) },
  ]
}

function prettyJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function disabledPlugins({ file }: AgentConfigFile): HostFinding[] {
  const settings = readSettings(file)
  const isDenied = stringsAtPath(settings, 'plugins', 'deny').includes(PLUGIN_ID)
  return [
    ...(valueAtPath(settings, 'plugins', 'enabled') === false
      ? [badFinding(`plugins.enabled is false in ${file}`, 'Remove it there.')]
      : []),
    ...(isDenied ? [badFinding(`plugins.deny names hookhelm in ${file}`, 'Remove it there.')] : []),
    ...(valueAtPath(settings, 'plugins', 'entries', PLUGIN_ID, 'enabled') === false
      ? [
          badFinding(
            `plugins.entries.hookhelm is switched off in ${file}`,
            'Run `hookhelm connect openclaw`.',
          ),
        ]
      : []),
  ]
}
