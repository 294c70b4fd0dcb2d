import { joinPlugin } from '../plugin/join.ts'
import type { PluginFile, PluginSettings } from '../plugin/settings.ts'

/** As the plugin is called in `plugins.entries`. */
export const pluginId = 'hookhelm'

/**
 * A folder of its own, which is named in `plugins.load.paths`. The plugin must also be switched on in `plugins.entries`,
 * with `hooks.allowConversationAccess`: without that its hooks on prompts are left out.
 */
export function pluginFiles(settings: PluginSettings): readonly PluginFile[] {
  const about = {
    name: pluginId,
    version: settings.version,
    private: true,
    type: 'module',
    openclaw: { extensions: ['./index.js'] },
  }
  const manifest = {
    id: pluginId,
    name: 'Hookhelm',
    description: 'Every tool call passes your hooks.',
    activation: { onStartup: true },
    configSchema: { type: 'object', additionalProperties: false },
    contracts: { agentToolResultMiddleware: ['openclaw', 'codex'] },
  }
  return [
    { path: 'package.json', text: json(about) },
    { path: 'openclaw.plugin.json', text: json(manifest) },
    { path: 'index.js', text: joinPlugin(new URL('./plugin.js', import.meta.url), settings) },
  ]
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
