import { HookError } from '../engine/core/error.ts'
import { nearest } from '../engine/core/nearest.ts'

/** The parser takes any flag; one that nobody reads may be the one that mattered. */
export function refuseUnknown(given: Readonly<Record<string, unknown>>, known: readonly string[]): void {
  const names = new Set(known.flatMap((name) => [name, camel(name)]))
  const unknown = Object.keys(given).find((name) => name !== '_' && !names.has(name))
  if (unknown === undefined) return
  const near = nearest(unknown, known)
  throw new HookError('config.field', `there is no flag --${unknown.slice(0, 80)}`, {
    hint: near === undefined ? '--help lists them.' : `Did you mean --${near}?`,
  })
}

function camel(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
