import { readFileSync } from 'node:fs'
import type { PluginSettings } from './settings.ts'

/** What every plugin brings along, each after those it needs. */
const shared = ['one-line', 'spool', 'place', 'reply', 'family', 'in-place', 'link'].map(
  (name) => new URL(`./${name}.js`, import.meta.url),
)
const SETTINGS = /\/\* hookhelm:settings \*\/ \{\}/

/**
 * A plugin as one file, with its settings in it: a host that loads each file of a folder must not find parts, and a part
 * that is missing would leave the agent without its gate.
 */
export function joinPlugin(plugin: URL, settings: PluginSettings): string {
  const imports = new Set<string>()
  const bodies = [...shared, plugin].map((file) => {
    const lines = readFileSync(file, 'utf8').split('\n')
    for (const line of lines) if (line.startsWith('import ') && line.includes("'node:")) imports.add(line)
    const body = lines.filter((line) => !line.startsWith('import ') && !line.includes('biome-ignore'))
    return body.join('\n').trim()
  })
  const [host = '', ...parts] = bodies.toReversed()
  const text = [
    `// Written by Hookhelm ${settings.version}. \`hookhelm connect\` writes it anew, \`hookhelm disconnect\` removes it.`,
    [...imports].toSorted().join('\n'),
    ...parts.toReversed().map((part) => part.replaceAll(/^export /gm, '')),
    host,
  ].join('\n\n')
  // A function, because a `$` in a path must stay one.
  return `${text.replace(SETTINGS, (marker) => `${marker.slice(0, -2)}${JSON.stringify(settings)}`)}\n`
}
