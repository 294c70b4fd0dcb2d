import type { EventRow } from '../../engine/core/event.ts'
import { start } from './deadline.ts'
import { type Call, type Listener, listenersOf } from './desk.ts'
import { settle } from './failure.ts'

type Answer = Readonly<Record<string, unknown>>
interface Merged {
  readonly answer: Answer
  /** The plugin the answer is due to. */
  readonly by: string
}

/** One listener after the other, each with the original event; answers are merged, a block ends the chain. */
export async function mergeInTurn(call: Call): Promise<unknown> {
  const listeners = listenersOf(call)
  if (listeners.length === 0) return undefined
  call.desk.logger?.debug?.(`[hooks] running ${call.name} (${listeners.length} handlers, sequential)`)
  let merged: Merged | undefined
  for (const listener of listeners) {
    try {
      const answer = await start(call, listener)
      if (answer === undefined || (answer === null && !call.rule.readsNull)) continue
      // Unchecked, as this door has always been; merge rules look only at what they know.
      merged = mergeOne(call.row, merged, { answer: answer as Answer, by: listener.pluginId })
      if (!blocks(call.row, merged.answer)) continue
      call.desk.logger?.debug?.(stopLine(call, listener))
      break
    } catch (error) {
      settle(call, listener, error)
    }
  }
  if (!merged) return undefined
  return call.rule.namesPlugin ? { decision: merged.answer, pluginId: merged.by } : merged.answer
}

export function blocks(row: EventRow, answer: Answer): boolean {
  const verdict = row.verdict?.(answer)
  return typeof verdict === 'object' && verdict.kind === 'block'
}

function mergeOne(row: EventRow, before: Merged | undefined, next: Merged): Merged {
  const answer = row.merge
    ? row.merge(before?.answer, next.answer, next.by)
    : mergeFields(row, before?.answer, next.answer)
  // Two plugins may return the very same object; it is then due to the later one.
  if (before && answer === before.answer && answer !== next.answer) return before
  return { answer, by: next.by }
}

function mergeFields(row: EventRow, before: Answer | undefined, next: Answer): Answer {
  return Object.fromEntries(
    Object.entries(row.fields).map(([key, { merge }]) => [key, merge.merge(before?.[key], next[key])]),
  )
}

function stopLine({ name, rule }: Call, { pluginId, priority }: Listener): string {
  return `[hooks] ${name} ${rule.stopsWith} decided by ${pluginId} (priority=${priority ?? 0}); skipping remaining handlers`
}
