import { z } from 'zod'
import { DOCTOR_SESSION_PREFIX } from '../../agents/doctor-session.ts'
import { wholeNumber } from '../../config/schema/zod-schema.ts'

/** Schemas that the rows of many methods share. */
export const shortText = z.string().min(1, 'must not be empty').max(500, 'must have at most 500 characters')
export const noParams = z.strictObject({})

const MAX_PAGE = 200
const DEFAULT_PAGE = 50

export const pageFields = {
  cursor: z.string().describe('`nextCursor` of the previous page.').exactOptional(),
  limit: wholeNumber(1, MAX_PAGE).describe(`${DEFAULT_PAGE} if omitted.`).exactOptional(),
}

const instant = z.number().describe('Milliseconds since 1970.').meta({ format: 'unix-ms' })

/** The span of time of a listing. The command line also accepts `2h` and ISO instants. */
export const timeFields = { since: instant.exactOptional(), until: instant.exactOptional() }

export const probeField = {
  probes: z.boolean().describe('Includes the probes of `hookhelm doctor`.').exactOptional(),
}

export function isProbe(session: string | null): boolean {
  return session?.startsWith(DOCTOR_SESSION_PREFIX) === true
}

/** The filter of the store that leaves out what the doctor did. */
export function withoutProbes(probes = false): { except_sessions?: string } {
  return probes ? {} : { except_sessions: DOCTOR_SESSION_PREFIX }
}

/** A list that accepts read-only arrays. */
export function readonlyList<T extends z.ZodType>(item: T) {
  return z.array(item).readonly()
}

/** The page that the parameters ask the store for. */
export function requestedPage({ cursor, limit = DEFAULT_PAGE }: { cursor?: string; limit?: number }) {
  return cursor === undefined || cursor === '' ? { limit } : { cursor, limit }
}
