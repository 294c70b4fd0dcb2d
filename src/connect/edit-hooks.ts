import type { Node } from 'jsonc-parser'
import type { CommandHost, ConfiguredHook } from '../agents/agent-host.ts'
import {
  locateOffset,
  nodeValue,
  type ParsedConfig,
  parseConfig,
  propertyOf,
  unusableConfig,
} from '../agents/config/read-config.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { addListItem, addMissingValue, removeEmpty, removeItem } from './edit-json.ts'

/** One hook as the agent's configuration has it. */
export type HookEntry = Pick<ConfiguredHook, 'event' | 'value'>

/** A configuration file with hooks under `hooks.<event>`. */
export type HookConfigFile = Pick<CommandHost, 'layout' | 'preamble' | 'notEvents'> & {
  readonly path: string
}

export type IsOwnHook = (value: unknown) => boolean

/** Lists every hook of a configuration. Throws if a list has the wrong type. */
export function listHooks(text: string, file: HookConfigFile): ConfiguredHook[] {
  const config = parseConfig(text, file.path)
  return eventLists(config, file).flatMap(({ event, list }) =>
    (list.children ?? []).flatMap((item, index) =>
      handlersOf(config, item, file).flatMap((handler, position) => {
        const value = nodeValue(handler)
        const matcher = propertyOf(item, 'matcher')?.value.value
        return isRecord(value) ? [{ event, value, matcher, at: [index, position] as const }] : []
      }),
    ),
  )
}

/** Returns the text with our hooks at the end of each event's list. Everything else stays as it is. */
export function addHooks(text: string, file: HookConfigFile, entries: readonly HookEntry[]): string {
  const { path, layout, preamble = {} } = file
  const start = Object.entries(preamble).reduce(
    (now, [name, value]) => addMissingValue({ text: now, path }, [name], value),
    text,
  )
  return entries.reduce((now, { event, value }) => {
    const item = layout === 'groups' ? { hooks: [value] } : value
    return addListItem({ text: now, path }, ['hooks', event], item)
  }, start)
}

/** Returns the text without our hooks, and without the lists that become empty. */
export function removeHooks(text: string, file: HookConfigFile, isOurs: IsOwnHook): string {
  const { path } = file
  const config = parseConfig(text, path)
  for (const { event, list } of eventLists(config, file))
    for (const item of list.children ?? []) {
      const handlers = handlersOf(config, item, file)
      const ours = handlers.filter((handler) => isOurs(nodeValue(handler)))
      const [first] = ours
      if (first === undefined) continue
      const inner = ours.length === handlers.length ? undefined : propertyOf(item, 'hooks')?.value
      const next = inner === undefined ? removeItem(config, list, item) : removeItem(config, inner, first)
      return removeHooks(removeEmpty({ text: next, path }, ['hooks', event]), file, isOurs)
    }
  return text
}

/** The configuration as data, without our hooks. An edit must not change it. */
export function foreignContent(text: string, file: HookConfigFile, isOurs: IsOwnHook): unknown {
  const { root } = parseConfig(text, file.path)
  const value = root === undefined ? {} : nodeValue(root)
  if (!isRecord(value)) return value
  const { hooks = {}, ...rest } = value
  const lists = Object.entries(isRecord(hooks) ? hooks : { hooks }).flatMap(([event, list]) => {
    const others = foreignHooks(list, file, isOurs)
    return Array.isArray(others) && others.length === 0 ? [] : [[event, others] as const]
  })
  const known = Object.keys(file.preamble ?? {})
  return {
    // The order of events has no meaning.
    lists: lists.toSorted(([a], [b]) => (a < b ? -1 : 1)),
    rest: Object.entries(rest).filter(([key]) => !known.includes(key)),
  }
}

function foreignHooks(list: unknown, { layout }: HookConfigFile, isOurs: IsOwnHook): unknown {
  if (!Array.isArray(list)) return list
  if (layout === 'flat') return list.filter((hook) => !isOurs(hook))
  return list.flatMap((group) => {
    if (!isRecord(group) || !Array.isArray(group.hooks)) return [group]
    const hooks = group.hooks.filter((hook) => !isOurs(hook))
    return hooks.length === 0 && group.hooks.length > 0 ? [] : [{ ...group, hooks }]
  })
}

function eventLists(config: ParsedConfig, file: HookConfigFile) {
  const hooks = hooksOf(config, file)
  return (hooks?.children ?? []).flatMap((property) => {
    const [key, list] = property.children ?? []
    if (hooks === undefined || key === undefined || list === undefined) return []
    const event = String(key.value)
    if (file.notEvents?.includes(event)) return []
    if (list.type !== 'array') throw invalidHooks(config, file, list, `hooks.${event} must be a list`)
    return [{ event, list }]
  })
}

function hooksOf(config: ParsedConfig, file: HookConfigFile): Node | undefined {
  if (config.root === undefined) return undefined
  if (config.root.type !== 'object') throw invalidHooks(config, file, config.root, 'must hold an object')
  const hooks = propertyOf(config.root, 'hooks')?.value
  if (hooks !== undefined && hooks.type !== 'object')
    throw invalidHooks(config, file, hooks, 'hooks must be an object')
  return hooks
}

function handlersOf(config: ParsedConfig, item: Node, file: HookConfigFile): readonly Node[] {
  if (file.layout === 'flat') return [item]
  const inner = propertyOf(item, 'hooks')?.value
  if (inner !== undefined && inner.type !== 'array')
    throw invalidHooks(config, file, inner, 'the hooks of a group must be a list')
  return inner?.children ?? []
}

function invalidHooks({ text }: ParsedConfig, file: HookConfigFile, node: Node, why: string): Error {
  return unusableConfig(locateOffset(file.path, text, node.offset), why)
}
