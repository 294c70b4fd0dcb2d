import type { EventRow } from '../engine/core/event.ts'
import type { BaseHook } from '../engine/core/hook.ts'
import { isRecord } from '../engine/core/schema/check.ts'

type Hook = Pick<BaseHook, 'handler_type' | 'answer' | 'on_invalid' | 'config'>
type Row = Pick<EventRow, 'mode' | 'onFailure'>

/**
 * Whether an answer that cannot be read stops an event. Other events have nothing to open, and there a failure would only
 * make the breaker switch off a hook that prints what it did.
 */
function stopsOnInvalid({ on_invalid }: Hook, { mode, onFailure }: Row): boolean {
  return mode === 'gate' && (onFailure === 'block' || on_invalid === 'block')
}

/** Only these read what another program prints. */
function printsAnswer({ handler_type }: Hook): boolean {
  return handler_type === 'command' || handler_type === 'http'
}

/** The `answer` of a hook in a file that has none. An unknown event belongs to the program and may be a gate. */
export function answerInFiles(hook: Hook, row: Row | undefined): Pick<BaseHook, 'answer'> {
  const isExact = printsAnswer(hook) && (row === undefined || stopsOnInvalid(hook, row))
  return hook.answer === undefined && isExact ? { answer: 'exact' } : {}
}

/** What a person should know about a hook that does not take text for an invalid answer; undefined for any other. */
export function textNote(hook: Hook, row: Row): string | undefined {
  const { answer = 'strict', config } = hook
  const { worker, format } = isRecord(config) ? config : {}
  if (!printsAnswer(hook) || !stopsOnInvalid(hook, row) || answer === 'exact') return undefined
  // A worker that writes text is stopped, and the answer of a run hook is always JSON.
  if (worker === true || format === 'run_hook') return undefined
  return answer === 'ignore' || (format !== undefined && format !== 'hookhelm')
    ? 'reads no answer in what is printed'
    : `takes text for a log (answer: ${answer})`
}
