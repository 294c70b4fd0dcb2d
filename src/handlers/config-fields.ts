import { HookError } from '../engine/core/error.ts'
import { nearest } from '../engine/core/nearest.ts'

/** A field of a handler's config that cannot be used, and where it stands. */
export function wrongField(at: string, text: string): HookError {
  return new HookError('config.field', `${at} ${text}`, { at })
}

export function readFlag(config: Readonly<Record<string, unknown>>, key: string): boolean {
  const value = config[key] ?? false
  if (typeof value !== 'boolean') throw wrongField(`config.${key}`, 'must be true or false')
  return value
}

export function unknownField(key: string, known: readonly string[], hook: string): HookError {
  const near = nearest(key, known)
  const hint = near === undefined ? '' : `; did you mean ${near}?`
  return wrongField(`config.${key.slice(0, 80)}`, `is not a field of ${hook}${hint}`)
}
