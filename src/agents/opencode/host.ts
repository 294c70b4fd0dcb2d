import { dirname, join } from 'node:path'
import type { PluginHost } from '../agent-host.ts'
import { folderFromEnv } from '../config/host-settings.ts'
import { bundlePlugin } from '../plugin/plugin-files.ts'

export const opencodeHost: PluginHost = {
  agent: 'opencode',
  transport: 'plugin',
  programs: ['opencode'],
  installFolders: ['.opencode/bin'],
  home: (env) => join(folderFromEnv(env, 'XDG_CONFIG_HOME', '.config'), 'opencode'),
  configFiles: ({ env, project }) => [
    { level: 'user', file: join(opencodeHost.home(env), 'plugin', 'hookhelm.js') },
    { level: 'project', file: join(project, '.opencode', 'plugin', 'hookhelm.js') },
  ],
  // OpenCode loads every file of this folder, so the plugin needs no entry in a configuration.
  pluginFolder: ({ file }) => dirname(file),
  entryFile: 'hookhelm.js',
  pluginFiles: (settings) => [
    { path: 'hookhelm.js', text: bundlePlugin(new URL('./plugin.js', import.meta.url), settings) },
  ],
  configEdits: () => [],
  trustNotice: () => undefined,
  findDisabled: () => [],
  findUntrusted: () => [],
}
