import { dirname, join } from 'node:path'
import { pluginFiles } from '../../agents/opencode/files.ts'
import type { PluginHost } from '../host.ts'
import { ownFileTarget } from '../target.ts'
import { folderOf } from './config-places.ts'

export const openCodeHost: PluginHost = {
  agent: 'opencode',
  transport: 'plugin',
  programs: ['opencode'],
  home: (env) => join(folderOf(env, 'XDG_CONFIG_HOME', '.config'), 'opencode'),
  places: ({ env, project }) => [
    { level: 'user', file: join(openCodeHost.home(env), 'plugin', 'hookhelm.js') },
    { level: 'project', file: join(project, '.opencode', 'plugin', 'hookhelm.js') },
  ],
  pluginFile: ({ file }) => file,
  targets: ({ file }, _dataFolder, settings) =>
    pluginFiles(settings).map(({ path, text }) => ownFileTarget(join(dirname(file), path), text)),
  trust: () => undefined,
  switchedOff: () => [],
  untrusted: () => [],
}
