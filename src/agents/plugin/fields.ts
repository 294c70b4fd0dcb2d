import { isRecord } from '../../engine/core/check.ts'

export type PayloadRecord = Readonly<Record<string, unknown>>

/** An object of the payload; one that is not there is empty. */
export function recordField(fields: PayloadRecord, key: string): PayloadRecord {
  const value = fields[key]
  return isRecord(value) ? value : {}
}
