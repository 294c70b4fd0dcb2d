import { DOCTOR_SESSION_PREFIX } from '../engine/core/context.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { instant } from '../engine/core/schema/more-schemas.ts'
import { schema } from '../engine/core/schema/schema.ts'

/** Schemas that the rows of many methods share. */
export const shortText = (about?: string) => schema.text(about, { minLength: 1, maxLength: 500 })
export const jsonObject = (about?: string) => schema.map(schema.any(), about)
export const noParams = schema.object({})

const MAX_PAGE = 200
const DEFAULT_PAGE = 50

export const pageFields = schema.partial({
  cursor: schema.text('`nextCursor` of the previous page.'),
  limit: schema.integer(1, MAX_PAGE, `${DEFAULT_PAGE} if omitted.`),
})

/** The span of time of a listing. */
export const timeFields = schema.partial({ since: instant(), until: instant() })

export const probeField = schema.partial({
  probes: schema.boolean('Includes the probes of `hookhelm doctor`.'),
})

export function isProbe(session: string | null): boolean {
  return session?.startsWith(DOCTOR_SESSION_PREFIX) === true
}

/** The filter of the store that leaves out what the doctor did. */
export function withoutProbes(probes = false): { except_sessions?: string } {
  return probes ? {} : { except_sessions: DOCTOR_SESSION_PREFIX }
}

/** What the store says if the tenant has no such thing. */
type None = undefined | false | 'missing'

/** The thing that the caller named by its id. Throws if the store has none. */
export function found<T>(thing: T, noun: string, id: string): Exclude<T, None> {
  if (thing === undefined || thing === false || thing === 'missing')
    throw serverError('gateway.not_found', `${noun} not found: ${id}`)
  // The compiler does not narrow a type parameter.
  return thing as Exclude<T, None>
}

/** The fields that have a value: null removes one. */
export function withoutNulls(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}

/** The page that the parameters ask the store for. */
export function requestedPage({ cursor, limit = DEFAULT_PAGE }: { cursor?: string; limit?: number }) {
  return cursor === undefined || cursor === '' ? { limit } : { cursor, limit }
}
