import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { PayloadRecord } from './read-fields.ts'

/** An agent's field → ours, or ours and the value that the agent's hooks get if our event has none. */
export type FieldMap = Readonly<Record<string, readonly [ours: string, otherwise?: unknown]>>

/** Fields that have our names, with the value that the agent's hooks get if our event has none. */
export function sameFields(otherwise: PayloadRecord): FieldMap {
  return Object.fromEntries(Object.entries(otherwise).map(([name, value]) => [name, [name, value]]))
}

/** Our fields that have another name, from the payload of an agent. */
export function readFields(map: FieldMap, native: PayloadRecord): PayloadRecord {
  return Object.fromEntries(
    Object.entries(map).flatMap(([theirs, [ours]]) =>
      theirs === ours || !Object.hasOwn(native, theirs) ? [] : [[ours, native[theirs]]],
    ),
  )
}

/** The fields of an agent, from our payload. */
export function buildFields(map: FieldMap, payload: PayloadRecord): PayloadRecord {
  return definedFields(
    Object.fromEntries(
      Object.entries(map).map(([theirs, [ours, otherwise]]) => [theirs, payload[ours] ?? otherwise]),
    ),
  )
}
