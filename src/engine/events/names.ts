import { HookError } from '../core/error.ts'
import type { EventRows } from '../core/event.ts'
import { fold, nearest } from '../core/nearest.ts'

/** Finds the canonical name of an event, whoever spelled it. */
export type ResolveName = (name: string) => string

export function eventNames(rows: EventRows): ResolveName {
  const known = new Map<string, string>()
  for (const [name, row] of Object.entries(rows)) {
    for (const alias of [name, ...row.aliases]) {
      const taken = known.get(fold(alias))
      if (taken !== undefined && taken !== name) {
        throw new HookError('config.event', `${alias} already means ${taken}, so it cannot mean ${name}`)
      }
      known.set(fold(alias), name)
    }
  }
  return (name) => {
    const found = typeof name === 'string' ? known.get(fold(name)) : undefined
    if (found !== undefined) return found
    const written = typeof name === 'string' ? name.slice(0, 80) : typeof name
    const near = nearest(written, known.values())
    throw new HookError('input.unknown_event', `unknown event ${JSON.stringify(written)}`, {
      ...(near === undefined ? {} : { hint: `did you mean ${near}?` }),
    })
  }
}
