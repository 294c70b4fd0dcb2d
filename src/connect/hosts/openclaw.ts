import { basename, isAbsolute, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { pluginFiles, pluginId } from '../../agents/openclaw/files.ts'
import type { Finding, Place, PluginHost } from '../host.ts'
import { ownFileTarget, type Target, verify } from '../target.ts'
import { nodeValue, readConfigText, withoutMark } from '../text/config-text.ts'
import { withItem, withoutEmpty, withoutValue, withValue } from '../text/json-path.ts'
import { off, settingsIn, textsUnder, under, underHome } from './config-places.ts'

/** The plugin is known by the name of its folder, wherever that is. */
const FOLDER = 'hookhelm-openclaw'
/** Hooks about a conversation are given to plugins only where the configuration says so. */
const ENTRY = { enabled: true, hooks: { allowConversationAccess: true } }

const paths = ['plugins', 'load', 'paths']
const entry = ['plugins', 'entries', pluginId]
const allow = ['plugins', 'allow']

export const openClawHost: PluginHost = {
  agent: 'openclaw',
  transport: 'plugin',
  programs: ['openclaw'],
  home: (env) => underHome(env, '.openclaw'),
  places: ({ env }) => {
    const named = env.OPENCLAW_CONFIG_PATH
    const file =
      named !== undefined && isAbsolute(named) ? named : join(openClawHost.home(env), 'openclaw.json')
    return [{ level: 'user', file }]
  },
  pluginFile: (_place, dataFolder) => join(pluginFolder(dataFolder), 'index.js'),
  targets(place, dataFolder, settings) {
    const folder = pluginFolder(dataFolder)
    return [
      ...pluginFiles(settings).map(({ path, text }) => ownFileTarget(join(folder, path), text)),
      configTarget(place.file, folder),
    ]
  },
  trust: () => undefined,
  switchedOff: (_where, place) => switches(place),
  untrusted: () => [],
}

function pluginFolder(dataFolder: string): string {
  return join(dataFolder, 'plugins', FOLDER)
}

/** Its configuration: where the plugin lies, that it is on, and that it is allowed where only some are. */
function configTarget(path: string, folder: string): Target {
  return {
    path,
    merged(text) {
      const { mark, text: old } = withoutMark(text ?? '')
      const isListed = Array.isArray(under(valueIn(old, path), ...allow))
      let next = withItem(old, path, paths, folder)
      next = withValue(next, path, entry, ENTRY)
      if (isListed) next = withItem(next, path, allow, pluginId)
      verify(path, others(old, path), others(next, path))
      return mark + next
    },
    stripped(text) {
      const { mark, text: old } = withoutMark(text)
      const next = without(old, path)
      verify(path, others(old, path), others(next, path))
      return mark + next
    },
    isMerged(text) {
      const value = valueIn(withoutMark(text).text, path)
      const listed = textsUnder(value, ...paths).filter(isOurFolder)
      const allowed = under(value, ...allow)
      return (
        isDeepStrictEqual(listed, [folder]) &&
        JSON.stringify(under(value, ...entry)) === JSON.stringify(ENTRY) &&
        (!Array.isArray(allowed) || allowed.includes(pluginId))
      )
    },
  }
}

function without(text: string, path: string): string {
  const isId = (value: unknown) => value === pluginId
  let next = withoutValue(text, path, paths, isOurFolder)
  next = withoutValue(next, path, entry, () => true)
  next = withoutValue(next, path, allow, isId)
  if (next === text) return text
  next = withoutEmpty(next, path, paths)
  return withoutEmpty(next, path, entry.slice(0, -1))
}

/** What others wrote, with the lists around ours left out where nothing else is in them. */
function others(text: string, path: string): unknown {
  const cleared = [paths, entry.slice(0, -1)].reduce(
    (now, keys) => withoutEmpty(now, path, keys),
    without(text, path),
  )
  return JSON.stringify(valueIn(cleared, path))
}

function valueIn(text: string, path: string): unknown {
  const { root } = readConfigText(text, path)
  return root === undefined ? {} : nodeValue(root)
}

function isOurFolder(value: unknown): boolean {
  return typeof value === 'string' && basename(value) === FOLDER
}

function switches({ file }: Place): Finding[] {
  const settings = settingsIn(file)
  const denied = textsUnder(settings, 'plugins', 'deny').includes(pluginId)
  return [
    ...(under(settings, 'plugins', 'enabled') === false
      ? [off(`plugins.enabled is false in ${file}`, 'Remove it there.')]
      : []),
    ...(denied ? [off(`plugins.deny names hookhelm in ${file}`, 'Remove it there.')] : []),
    ...(under(settings, ...entry, 'enabled') === false
      ? [off(`plugins.entries.hookhelm is switched off in ${file}`, 'Run `hookhelm connect openclaw`.')]
      : []),
  ]
}
