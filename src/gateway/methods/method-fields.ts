import { z } from 'zod'
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

/** A list that accepts read-only arrays. */
export function readonlyList<T extends z.ZodType>(item: T) {
  return z.array(item).readonly()
}

/** The page that the parameters ask the store for. */
export function requestedPage({ cursor, limit = DEFAULT_PAGE }: { cursor?: string; limit?: number }) {
  return cursor === undefined || cursor === '' ? { limit } : { cursor, limit }
}
