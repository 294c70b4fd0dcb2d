import { start } from './deadline.ts'
import { type Call, listenersOf } from './desk.ts'
import { settle } from './failure.ts'

/** All listeners at once; done when all are. Closed hooks reject with the first failure. */
export async function observe(call: Call): Promise<void> {
  const listeners = listenersOf(call)
  if (listeners.length === 0) return
  call.desk.logger?.debug?.(`[hooks] running ${call.name} (${listeners.length} handlers)`)
  await Promise.all(
    listeners.map(async (listener) => {
      try {
        await start(call, listener)
      } catch (error) {
        settle(call, listener, error)
      }
    }),
  )
}
