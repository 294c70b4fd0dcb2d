import { HookError } from '../engine/core/error.ts'
import type { ResolveName } from '../engine/events/names.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import type { HookPlace } from './find.ts'
import type { Found } from './read/issues.ts'
import { byCatalogue } from './read/read-text.ts'

/**
 * The hooks of a file as the engine gets them. Ids do not change from one reload to the next, so that guards and
 * breakers keep what they remember; those of the managed file lie out of reach of all others.
 */
export function armed(
  definitions: readonly HookDefinition[],
  place: HookPlace,
  resolve: ResolveName = byCatalogue,
): HookDefinition[] {
  const managed = place.level === 'managed'
  const own = (id: string) => (managed ? `managed/${id}` : id)
  const taken = new Set(definitions.flatMap(({ id }) => (id === undefined ? [] : [own(id)])))
  return definitions.map((definition) => ({
    ...definition,
    id: definition.id === undefined ? freshId(wish(definition, place, resolve), taken) : own(definition.id),
    scope: definition.scope ?? 'tenant',
    ...(managed ? { locked: true } : {}),
  }))
}

function wish({ name = '', event }: HookDefinition, { label }: HookPlace, resolve: ResolveName): string {
  return `${label}/${slug(name) || resolve(event)}`
}

function freshId(wished: string, taken: Set<string>): string {
  let id = wished
  for (let count = 2; taken.has(id); count++) id = `${wished}-${count}`
  taken.add(id)
  return id
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
}

/** What only an administrator may write. */
export function usurped(definitions: readonly HookDefinition[], { level }: HookPlace): Found[] {
  if (level === 'managed') return []
  return definitions.flatMap((definition, index): Found[] => [
    ...(definition.locked ? [refused(index, 'locked', 'locked hooks belong into the managed file')] : []),
    ...(definition.id?.startsWith('managed/')
      ? [refused(index, 'id', 'an id that begins with managed/ belongs to the managed file')]
      : []),
  ])
}

function refused(index: number, field: string, message: string): Found {
  return { path: ['hooks', index, field], part: 'value', error: new HookError('config.field', message) }
}
