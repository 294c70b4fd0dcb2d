import { z } from 'zod'
import { wholeNumber } from '../../config/schema/zod-schema.ts'

/** Parameters that many methods share. */
export const text = z.string().min(1, 'must not be empty').max(500, 'must have at most 500 characters')
export const noParams = z.strictObject({})

const MAX_PAGE = 200
const DEFAULT_PAGE = 50

export const pageFields = {
  cursor: z.string().describe('`nextCursor` of the page before.').exactOptional(),
  limit: wholeNumber(1, MAX_PAGE).describe(`${DEFAULT_PAGE} if omitted.`).exactOptional(),
}

/** Read-only lists welcome read-only rows. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.array(item).readonly()
}

export function pageOf({ cursor, limit = DEFAULT_PAGE }: { cursor?: string; limit?: number }) {
  return cursor === undefined || cursor === '' ? { limit } : { cursor, limit }
}
