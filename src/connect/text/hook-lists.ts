import type { Node } from 'jsonc-parser'
import { type ConfigText, nodeValue, place, propertyOf, readConfigText, unusable } from './config-text.ts'
import { append, isBare, remove } from './edit-list.ts'

/** How hooks stand under `hooks.<event>`: in groups with a matcher, or one after the other. */
export type Layout = 'groups' | 'flat'

export interface HookEntry {
  readonly event: string
  /** One hook as the agent's configuration has it. */
  readonly value: Readonly<Record<string, unknown>>
}

/** A hook where it stands. */
export interface PlacedHook extends HookEntry {
  readonly matcher: unknown
  /** Position of its group, and in it. */
  readonly at: readonly [number, number]
}

export interface HookFile {
  readonly path: string
  readonly layout: Layout
  /** Keys that the file must have beside `hooks`. */
  readonly preamble?: Readonly<Record<string, unknown>>
  /** Keys below `hooks` that are no events. */
  readonly notEvents?: readonly string[]
}

export type IsOurs = (value: unknown) => boolean

/** Every hook of a configuration. Throws for one that the agent could not read as meant. */
export function hooksIn(text: string, file: HookFile): PlacedHook[] {
  const config = readConfigText(text, file.path)
  return eventLists(config, file).flatMap(({ event, list }) =>
    itemsOf(list).flatMap((item, index) =>
      handlersOf(config, item, file).flatMap((handler, position) => {
        const value = nodeValue(handler)
        const matcher = propertyOf(item, 'matcher')?.value.value
        return isPlain(value) ? [{ event, value, matcher, at: [index, position] as const }] : []
      }),
    ),
  )
}

/** The text with our hooks at the end of each event's list. Everything else stays as it is. */
export function withHooks(text: string, file: HookFile, entries: readonly HookEntry[]): string {
  const item = ({ value }: HookEntry) => (file.layout === 'groups' ? { hooks: [value] } : value)
  let now = text
  for (const [name, value] of Object.entries(file.preamble ?? {})) now = withDefault(now, file, name, value)
  if (hooksOf(readConfigText(now, file.path), file) === undefined) {
    const lists = Object.fromEntries(entries.map((entry) => [entry.event, [item(entry)]]))
    return withDefault(now, file, 'hooks', lists)
  }
  for (const entry of entries) now = withHook(now, file, entry.event, item(entry))
  return now
}

/** The text without the hooks that are ours, and without the lists that only they were in. */
export function withoutHooks(text: string, file: HookFile, isOurs: IsOurs): string {
  let now = text
  for (;;) {
    const next = withoutOne(now, file, isOurs)
    if (next === undefined) return now
    now = next
  }
}

/** What the configuration says, hooks of ours left out: an edit of ours never changes it. */
export function othersIn(text: string, file: HookFile, isOurs: IsOurs): unknown {
  const { root } = readConfigText(text, file.path)
  const value = root === undefined ? {} : nodeValue(root)
  if (!isPlain(value)) return value
  const { hooks = {}, ...rest } = value
  const lists = Object.entries(isPlain(hooks) ? hooks : { hooks }).flatMap(([event, list]) => {
    const others = othersOf(list, file, isOurs)
    return Array.isArray(others) && others.length === 0 ? [] : [[event, others] as const]
  })
  const known = Object.keys(file.preamble ?? {})
  return {
    // Where an event stands among the others means nothing.
    lists: lists.toSorted(([a], [b]) => (a < b ? -1 : 1)),
    rest: Object.entries(rest).filter(([key]) => !known.includes(key)),
  }
}

function othersOf(list: unknown, { layout }: HookFile, isOurs: IsOurs): unknown {
  if (!Array.isArray(list)) return list
  if (layout === 'flat') return list.filter((hook) => !isOurs(hook))
  return list.flatMap((group) => {
    if (!isPlain(group) || !Array.isArray(group.hooks)) return [group]
    const hooks = group.hooks.filter((hook) => !isOurs(hook))
    return hooks.length === 0 && group.hooks.length > 0 ? [] : [{ ...group, hooks }]
  })
}

function withHook(text: string, file: HookFile, event: string, value: unknown): string {
  const config = readConfigText(text, file.path)
  const hooks = hooksOf(config, file)
  if (hooks === undefined) return text
  const list = propertyOf(hooks, event)?.value
  return list === undefined
    ? append(config, hooks, propertyText(config, event, [value]))
    : append(config, list, written(config, value))
}

/** Adds a key to the configuration where it is missing. */
function withDefault(text: string, file: HookFile, name: string, value: unknown): string {
  const config = readConfigText(text, file.path)
  const { root, eol } = config
  if (root === undefined) {
    const start = text === '' || text.endsWith('\n') ? text : `${text}${eol}`
    const whole = readConfigText('{}', file.path)
    return `${start}${append({ ...whole, eol }, rootOf(whole), propertyText(config, name, value))}${eol}`
  }
  if (propertyOf(root, name) !== undefined) return text
  return append(config, root, propertyText(config, name, value))
}

function withoutOne(text: string, file: HookFile, isOurs: IsOurs): string | undefined {
  const config = readConfigText(text, file.path)
  for (const { event, list } of eventLists(config, file))
    for (const item of itemsOf(list)) {
      const handlers = handlersOf(config, item, file)
      const ours = handlers.filter((handler) => isOurs(nodeValue(handler)))
      const [first] = ours
      if (first === undefined) continue
      const whole = ours.length === handlers.length
      const inner = propertyOf(item, 'hooks')?.value
      const next = whole || inner === undefined ? remove(config, list, item) : remove(config, inner, first)
      return pruned(next, file, event)
    }
  return undefined
}

/** A list that held nothing but ours goes with it, and so does an empty `hooks`. */
function pruned(text: string, file: HookFile, event: string): string {
  const config = readConfigText(text, file.path)
  const hooks = hooksOf(config, file)
  const found = hooks === undefined ? undefined : propertyOf(hooks, event)
  if (hooks === undefined || found === undefined || !isBare(text, found.value)) return text
  const without = remove(config, hooks, found.property)
  const rest = readConfigText(without, file.path)
  const root = rootOf(rest)
  const left = propertyOf(root, 'hooks')
  return left !== undefined && isBare(without, left.value) ? remove(rest, root, left.property) : without
}

function eventLists(config: ConfigText, file: HookFile) {
  const hooks = hooksOf(config, file)
  return (hooks?.children ?? []).flatMap((property) => {
    const [key, list] = property.children ?? []
    if (hooks === undefined || key === undefined || list === undefined) return []
    const event = String(key.value)
    if (file.notEvents?.includes(event)) return []
    if (list.type !== 'array') throw wrong(config, file, list, `hooks.${event} must be a list`)
    return [{ event, list }]
  })
}

function hooksOf(config: ConfigText, file: HookFile): Node | undefined {
  if (config.root === undefined) return undefined
  if (config.root.type !== 'object') throw wrong(config, file, config.root, 'must hold an object')
  const hooks = propertyOf(config.root, 'hooks')?.value
  if (hooks !== undefined && hooks.type !== 'object')
    throw wrong(config, file, hooks, 'hooks must be an object')
  return hooks
}

function handlersOf(config: ConfigText, item: Node, file: HookFile): readonly Node[] {
  if (file.layout === 'flat') return [item]
  const inner = propertyOf(item, 'hooks')?.value
  if (inner !== undefined && inner.type !== 'array')
    throw wrong(config, file, inner, 'the hooks of a group must be a list')
  return inner?.children ?? []
}

function itemsOf(list: Node): readonly Node[] {
  return list.children ?? []
}

function rootOf({ root }: ConfigText): Node {
  if (root === undefined) throw new TypeError('there is no value in this text')
  return root
}

function wrong({ text }: ConfigText, file: HookFile, node: Node, why: string): Error {
  return unusable(place(file.path, text, node.offset), why)
}

function propertyText(config: ConfigText, name: string, value: unknown): string {
  return `${JSON.stringify(name)}: ${written(config, value)}`
}

function written({ unit }: ConfigText, value: unknown): string {
  return JSON.stringify(value, undefined, unit)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
