import { type Call, type Listener, listenersOf } from './desk.ts'
import { refusePromise, settle } from './failure.ts'
import { blocks } from './merge-in-turn.ts'

type Answer = Readonly<Record<string, unknown>>

/**
 * One listener after the other without waiting, each with what the one before it made of the message.
 * A gate answers only when something changed; a transform always answers.
 */
export function runSync(call: Call): unknown {
  const listeners = listenersOf(call)
  if (listeners.length === 0) return undefined
  // The host hands over an object; what is in it belongs to the handlers.
  const event = call.event as Answer
  let message = event.message
  for (const listener of listeners) {
    try {
      const answer = answerOf(call, listener, { ...event, message })
      if (!answer) continue
      if (blocks(call.row, answer)) return { block: true }
      if (answer.message) message = answer.message
    } catch (error) {
      settle(call, listener, error)
    }
  }
  const isUnchanged = call.row.mode === 'gate' && message === event.message
  return isUnchanged ? undefined : { message }
}

function answerOf(call: Call, listener: Listener, event: Answer): Answer | undefined {
  const answer = listener.handler(event, call.ctx)
  if (!isPromiseLike(answer)) return answer as Answer | undefined
  // Nobody will wait for it, so nobody else would hear it reject: that alone could end the process.
  Promise.resolve(answer).catch(() => {})
  refusePromise(call, listener)
  return undefined
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  const canHaveThen = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return canHaveThen && typeof (value as { then?: unknown }).then === 'function'
}
