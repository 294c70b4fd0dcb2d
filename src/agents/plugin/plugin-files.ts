import { readFileSync } from 'node:fs'

/** What `connect` writes into a plugin. */
export interface PluginSettings {
  /** The agent's name, as the gateway knows it. */
  readonly agent: string
  /** The version of Hookhelm that wrote the plugin. */
  readonly version: string
  readonly socket: string
  /** The folder for events that could not be delivered. */
  readonly spool: string
  /** How long the plugin waits for an answer, in milliseconds. */
  readonly within: number
  /** How long the plugin waits for a person whom a hook asks, in milliseconds. */
  readonly wait?: number
  /** Let calls pass when the gateway does not answer. */
  readonly failOpen: boolean
  /** Also report events that come very often. */
  readonly chatty?: boolean
}

/** A file of a plugin. The path is relative to the plugin's folder. */
export interface PluginFile {
  readonly path: string
  readonly text: string
}

/** The modules that every plugin contains, each after those it needs. */
const sharedModules = [
  '../client/gateway-link.cjs',
  './reply.js',
  './session-parents.js',
  './gateway-connection.js',
].map((path) => new URL(path, import.meta.url))
/** Lines that only make sense in a module of its own. */
const MODULE_LINES = /^(?:import |'use strict'$)/
const MODULE_LISTS = /^(?:module\.exports = \{[^}]*\}|import \{[^}]*\} from '\.[^']*')\n/gm
const SETTINGS = /\/\* hookhelm:settings \*\/ \{\}/

/**
 * Joins a plugin and the shared modules into one file, with the settings inside. Some hosts load every file of the
 * folder, and a missing module would leave the agent without its gate.
 */
export function bundlePlugin(plugin: URL, settings: PluginSettings): string {
  const imports = new Set<string>()
  const bodies = [...sharedModules, plugin].map((file) => {
    const lines = readFileSync(file, 'utf8').replace(MODULE_LISTS, '').split('\n')
    for (const line of lines) if (line.startsWith('import ') && line.includes("'node:")) imports.add(line)
    const body = lines.filter((line) => !MODULE_LINES.test(line) && !line.includes('biome-ignore'))
    return body.join('\n').trim()
  })
  const [host = '', ...parts] = bodies.toReversed()
  const text = [
    `// Written by Hookhelm ${settings.version}. \`hookhelm connect\` writes it anew, \`hookhelm disconnect\` removes it.`,
    [...imports].toSorted().join('\n'),
    ...parts.toReversed().map((part) => part.replaceAll(/^export /gm, '')),
    host,
  ].join('\n\n')
  // A replacer function keeps a `$` in a path as it is.
  return `${text.replace(SETTINGS, (marker) => `${marker.slice(0, -2)}${JSON.stringify(settings)}`)}\n`
}
