import { HookError } from '../core/errors/error.ts'
import type { EventRows } from '../core/event.ts'
import { foldName, nearest } from '../core/values/nearest.ts'

/** Resolves a name or alias of an event, in any spelling, to its canonical name. Throws for an unknown one. */
export type ResolveEventName = (name: string) => string

/** Creates the resolver for a set of events. Throws if two events share a name or alias. */
export function createNameResolver(rows: EventRows): ResolveEventName {
  const known = new Map<string, string>()
  for (const [name, row] of Object.entries(rows)) {
    for (const alias of [name, ...row.aliases]) {
      const taken = known.get(foldName(alias))
      if (taken !== undefined && taken !== name) {
        throw new HookError('config.event', `${alias} already means ${taken}, so it cannot mean ${name}`)
      }
      known.set(foldName(alias), name)
    }
  }
  return (name) => {
    const found = typeof name === 'string' ? known.get(foldName(name)) : undefined
    if (found !== undefined) return found
    const written = typeof name === 'string' ? name.slice(0, 80) : typeof name
    const near = nearest(written, known.values())
    throw new HookError('input.unknown_event', `unknown event ${JSON.stringify(written)}`, {
      ...(near === undefined ? {} : { hint: `did you mean ${near}?` }),
    })
  }
}
