import type { Node } from 'jsonc-parser'
import type { ConfiguredHook, HookLayout } from '../agents/agent-host.ts'
import {
  locateOffset,
  nodeValue,
  type ParsedConfig,
  parseConfig,
  propertyOf,
  unusableConfig,
} from '../agents/config/read-config.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { appendItem, isEmptyValue, removeItem } from './edit-json.ts'

/** One hook as the agent's configuration has it. */
export type HookEntry = Pick<ConfiguredHook, 'event' | 'value'>

/** A configuration file with hooks under `hooks.<event>`. */
export interface HookConfigFile {
  readonly path: string
  readonly layout: HookLayout
  /** Keys that the file needs next to `hooks`. */
  readonly preamble?: Readonly<Record<string, unknown>>
  /** Keys below `hooks` that are not events. */
  readonly notEvents?: readonly string[]
}

export type IsOwnHook = (value: unknown) => boolean

/** Lists every hook of a configuration. Throws if a list has the wrong type. */
export function listHooks(text: string, file: HookConfigFile): ConfiguredHook[] {
  const config = parseConfig(text, file.path)
  return eventLists(config, file).flatMap(({ event, list }) =>
    childrenOf(list).flatMap((item, index) =>
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
  const item = ({ value }: HookEntry) => (file.layout === 'groups' ? { hooks: [value] } : value)
  let now = text
  for (const [name, value] of Object.entries(file.preamble ?? {})) now = addMissingKey(now, file, name, value)
  if (hooksOf(parseConfig(now, file.path), file) === undefined) {
    const lists = Object.fromEntries(entries.map((entry) => [entry.event, [item(entry)]]))
    return addMissingKey(now, file, 'hooks', lists)
  }
  for (const entry of entries) now = addHook(now, file, entry.event, item(entry))
  return now
}

/** Returns the text without our hooks, and without the lists that become empty. */
export function removeHooks(text: string, file: HookConfigFile, isOurs: IsOwnHook): string {
  let now = text
  for (;;) {
    const next = removeFirstHook(now, file, isOurs)
    if (next === undefined) return now
    now = next
  }
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

function addHook(text: string, file: HookConfigFile, event: string, value: unknown): string {
  const config = parseConfig(text, file.path)
  const hooks = hooksOf(config, file)
  if (hooks === undefined) return text
  const list = propertyOf(hooks, event)?.value
  return list === undefined
    ? appendItem(config, hooks, propertyText(config, event, [value]))
    : appendItem(config, list, jsonText(config, value))
}

/** Adds a top-level key if it is missing. */
function addMissingKey(text: string, file: HookConfigFile, name: string, value: unknown): string {
  const config = parseConfig(text, file.path)
  const { root, eol } = config
  if (root === undefined) {
    const start = text === '' || text.endsWith('\n') ? text : `${text}${eol}`
    const whole = parseConfig('{}', file.path)
    return `${start}${appendItem({ ...whole, eol }, rootOf(whole), propertyText(config, name, value))}${eol}`
  }
  if (propertyOf(root, name) !== undefined) return text
  return appendItem(config, root, propertyText(config, name, value))
}

function removeFirstHook(text: string, file: HookConfigFile, isOurs: IsOwnHook): string | undefined {
  const config = parseConfig(text, file.path)
  for (const { event, list } of eventLists(config, file))
    for (const item of childrenOf(list)) {
      const handlers = handlersOf(config, item, file)
      const ours = handlers.filter((handler) => isOurs(nodeValue(handler)))
      const [first] = ours
      if (first === undefined) continue
      const whole = ours.length === handlers.length
      const inner = propertyOf(item, 'hooks')?.value
      const next =
        whole || inner === undefined ? removeItem(config, list, item) : removeItem(config, inner, first)
      return removeEmptyLists(next, file, event)
    }
  return undefined
}

/** Removes the list of an event if it is empty, and then `hooks` if that is empty. */
function removeEmptyLists(text: string, file: HookConfigFile, event: string): string {
  const config = parseConfig(text, file.path)
  const hooks = hooksOf(config, file)
  const found = hooks === undefined ? undefined : propertyOf(hooks, event)
  if (hooks === undefined || found === undefined || !isEmptyValue(text, found.value)) return text
  const without = removeItem(config, hooks, found.property)
  const rest = parseConfig(without, file.path)
  const root = rootOf(rest)
  const left = propertyOf(root, 'hooks')
  return left !== undefined && isEmptyValue(without, left.value)
    ? removeItem(rest, root, left.property)
    : without
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

function childrenOf(list: Node): readonly Node[] {
  return list.children ?? []
}

function rootOf({ root }: ParsedConfig): Node {
  if (root === undefined) throw new TypeError('this text holds no value')
  return root
}

function invalidHooks({ text }: ParsedConfig, file: HookConfigFile, node: Node, why: string): Error {
  return unusableConfig(locateOffset(file.path, text, node.offset), why)
}

function propertyText(config: ParsedConfig, name: string, value: unknown): string {
  return `${JSON.stringify(name)}: ${jsonText(config, value)}`
}

function jsonText({ unit }: ParsedConfig, value: unknown): string {
  return JSON.stringify(value, undefined, unit)
}
