import { isRecord } from '../../engine/core/check.ts'
import { parseJson } from '../../safe/json.ts'
import type { Reply } from '../answer-dialects.ts'

/** One line of a worker, if it is one JSON object without tricks. */
export function parseLine(text: string): Reply | undefined {
  try {
    const reply = parseJson(text)
    return isRecord(reply) ? reply : undefined
  } catch {
    return undefined
  }
}
