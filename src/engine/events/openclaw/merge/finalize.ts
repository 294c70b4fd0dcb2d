import { isRecord } from '../../../core/check.ts'
import type { MergeResults } from '../../../core/event.ts'
import { join } from '../../../core/merge.ts'

type Answer = Parameters<MergeResults>[1]
type Retry = Readonly<Record<string, unknown>> & { readonly instruction: string }

/** Finalize beats revise, revise beats continue; two revisions become one that carries both wishes. */
export const mergeFinalize: MergeResults = (before, next) => {
  if (before?.action === 'finalize') return before
  if (next.action === 'finalize') return { action: 'finalize', reason: next.reason }
  if (next.action === 'revise') return before?.action === 'revise' ? both(before, next) : alone(next)
  if (before?.action === 'revise') return before
  return next.action === 'continue' ? { action: 'continue', reason: next.reason } : (before ?? next)
}

function alone(answer: Answer): Answer {
  const [retry] = readRetries([answer.retry])
  return { action: 'revise', reason: answer.reason, ...(retry && { retry }) }
}

function both(before: Answer, next: Answer): Answer {
  const retries = [...retriesOf(before), ...retriesOf(next)]
  const [retry] = retries
  const merged = {
    action: 'revise',
    reason: join.merge(before.reason, next.reason),
    ...(retry && { retry }),
  }
  if (retries.length < 2) return merged
  // Hidden, so that a host which compares, copies or sends the answer sees only the one retry it knows.
  return Object.defineProperty(merged, 'retryCandidates', { configurable: true, value: retries })
}

function retriesOf(answer: Answer): readonly Retry[] {
  const listed = answer.retryCandidates
  return readRetries(Array.isArray(listed) && listed.length > 0 ? listed : [answer.retry])
}

function readRetries(values: readonly unknown[]): readonly Retry[] {
  return values.flatMap((value) => {
    if (!isRecord(value) || typeof value.instruction !== 'string') return []
    const instruction = value.instruction.trim()
    return instruction ? [{ ...value, instruction }] : []
  })
}
