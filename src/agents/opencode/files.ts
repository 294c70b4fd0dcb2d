import { joinPlugin } from '../plugin/join.ts'
import type { PluginFile, PluginSettings } from '../plugin/settings.ts'

/** Below `.opencode/plugin`, or `plugin` in the user’s own folder of OpenCode. */
export function pluginFiles(settings: PluginSettings): readonly PluginFile[] {
  return [{ path: 'hookhelm.js', text: joinPlugin(new URL('./plugin.js', import.meta.url), settings) }]
}
