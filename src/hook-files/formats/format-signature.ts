import { isRecord } from '../../engine/core/schema/check.ts'

/** Whether a file is in a format. If not, what speaks against it. */
export type Recognition = { readonly fits: true } | { readonly fits: false; readonly because: string }

const fits: Recognition = { fits: true }
const misfit = (because: string): Recognition => ({ fits: false, because })

/** What a format with lists of hooks under `hooks.<event>` looks like. */
export interface HookMapSignature {
  /** Each event holds groups with their own list of hooks, or the hooks themselves. */
  readonly layout: 'groups' | 'flat'
  /** The names of events, in the spelling of the format. */
  readonly events: readonly string[]
  /** Keys below `hooks` that are not events. */
  readonly notEvents?: readonly string[]
  /** Keys next to `hooks` that tell formats apart. */
  readonly topFields: readonly string[]
  /** The only keys that may stand next to `hooks`. */
  readonly onlyTopFields?: readonly string[]
  readonly groupFields?: readonly string[]
  /** The fields of a hook. */
  readonly hookFields: readonly string[]
  /** Every hook has one of these fields. */
  readonly needsOneOf: readonly string[]
  /** Every hook has this field. */
  readonly needs?: string
  /** Text in a command that only works in another system. */
  readonly foreignText?: RegExp
}

/** Tells formats with lists of hooks under `hooks.<event>` apart. */
export type HookMapSignatures = Readonly<Record<string, HookMapSignature>>

/**
 * Compares a parsed file with one of several formats. An event or a field that only another format has speaks against
 * it. A name that no format has is left to the import, which reports it.
 */
export function recogniseHookMap(value: unknown, name: string, all: HookMapSignatures): Recognition {
  const signature = all[name]
  if (signature === undefined || !isRecord(value) || !isRecord(value.hooks))
    return misfit('it has no object `hooks`')
  const { notEvents = [], onlyTopFields } = signature
  const lists = Object.entries(value.hooks).filter(([key]) => !notEvents.includes(key))
  const events = lists.map(([event]) => event)
  if (!events.some((event) => signature.events.includes(event))) return misfit('none of its events is there')
  const isForeign = foreignNames(signature, all)
  const event = events.find((each) => isForeign('events', each))
  if (event !== undefined) return misfit(`it has no event ${event}`)
  const top = Object.keys(value).find(
    (key) => isForeign('topFields', key) || (onlyTopFields !== undefined && !onlyTopFields.includes(key)),
  )
  if (top !== undefined) return misfit(`it has no field ${top} next to hooks`)
  return firstMisfit(lists.map(([event, list]) => recogniseList(event, list, signature, isForeign)))
}

type Kind = 'events' | 'topFields' | 'groupFields' | 'hookFields'
type IsForeign = (kind: Kind, name: string) => boolean

function foreignNames(signature: HookMapSignature, all: HookMapSignatures): IsForeign {
  return (kind, name) =>
    !(signature[kind] ?? []).includes(name) &&
    Object.values(all).some((other) => (other[kind] ?? []).includes(name))
}

function firstMisfit(found: readonly Recognition[]): Recognition {
  return found.find((each) => !each.fits) ?? fits
}

function recogniseList(
  event: string,
  list: unknown,
  signature: HookMapSignature,
  isForeign: IsForeign,
): Recognition {
  if (!Array.isArray(list) || !list.every(isRecord)) return misfit(`${event} holds no list of objects`)
  const isGrouped = signature.layout === 'groups'
  return firstMisfit(
    list.map((entry) => {
      if (isGrouped !== Array.isArray(entry.hooks))
        return misfit(
          isGrouped ? `the entries of ${event} have no list \`hooks\`` : `${event} holds groups of hooks`,
        )
      const field = isGrouped ? Object.keys(entry).find((key) => isForeign('groupFields', key)) : undefined
      if (field !== undefined) return misfit(`its groups have no field ${field}`)
      const hooks: readonly unknown[] = Array.isArray(entry.hooks) ? entry.hooks : [entry]
      return firstMisfit(hooks.map((hook) => recogniseHook(hook, signature, isForeign)))
    }),
  )
}

function recogniseHook(hook: unknown, signature: HookMapSignature, isForeign: IsForeign): Recognition {
  if (!isRecord(hook)) return misfit('a hook is not an object')
  const { needsOneOf, needs, foreignText } = signature
  const field = Object.keys(hook).find((key) => isForeign('hookFields', key))
  if (field !== undefined) return misfit(`its hooks have no field ${field}`)
  if (needs !== undefined && !(needs in hook)) return misfit(`its hooks have a ${needs}`)
  if (!needsOneOf.some((key) => key in hook)) return misfit(`its hooks have one of ${needsOneOf.join(', ')}`)
  const found = foreignText?.exec(JSON.stringify([hook.command, hook.args]))
  return found === null || found === undefined ? fits : misfit(`it sets no ${found[0]}`)
}
