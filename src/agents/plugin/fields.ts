import { isRecord } from '../../engine/core/check.ts'

export type Fields = Readonly<Record<string, unknown>>

/** An object of the payload; one that is not there is empty. */
export function part(fields: Fields, key: string): Fields {
  const value = fields[key]
  return isRecord(value) ? value : {}
}
