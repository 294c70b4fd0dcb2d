import { firstLine } from '../log-text.ts'
import { start } from './deadline.ts'
import { type Call, type Listener, listenersOf } from './desk.ts'
import { settle } from './failure.ts'

type Claimed = { readonly handled: unknown }
type Outcome =
  | { readonly status: 'handled'; readonly result: Claimed }
  | { readonly status: 'missing_plugin' | 'no_handler' | 'declined' }
  | { readonly status: 'error'; readonly error: string }

/** One listener after the other until one says it has handled the event. */
export async function claim(call: Call): Promise<unknown> {
  const listeners = listenersOf(call)
  if (listeners.length === 0) return undefined
  announce(call, `(${listeners.length} handlers, first-claim wins)`)
  return (await firstClaim(call, listeners)).claimed
}

/** The same among the listeners of one plugin. */
export async function claimFor(call: Call, pluginId: string): Promise<unknown> {
  const listeners = listenersOf(call).filter((listener) => listener.pluginId === pluginId)
  if (listeners.length === 0) return undefined
  announce(call, `for ${pluginId} (${listeners.length} handlers, targeted)`)
  return (await firstClaim(call, listeners)).claimed
}

/** The same, and why nobody claimed. */
export async function claimOutcome(call: Call, pluginId: string): Promise<Outcome> {
  const isLoaded = call.desk.registry.plugins.some(({ id, status }) => id === pluginId && status === 'loaded')
  if (!isLoaded) return { status: 'missing_plugin' }
  const listeners = listenersOf(call).filter((listener) => listener.pluginId === pluginId)
  if (listeners.length === 0) return { status: 'no_handler' }
  announce(call, `for ${pluginId} (${listeners.length} handlers, targeted outcome)`)
  const { claimed, failures } = await firstClaim(call, listeners)
  if (claimed) return { status: 'handled', result: claimed }
  return failures.length > 0 ? { status: 'error', error: firstLine(failures[0]) } : { status: 'declined' }
}

async function firstClaim(
  call: Call,
  listeners: readonly Listener[],
): Promise<{ claimed?: Claimed; failures: readonly unknown[] }> {
  const failures: unknown[] = []
  for (const listener of listeners) {
    try {
      const answer = await start(call, listener)
      if (isClaim(answer)) return { claimed: answer, failures }
    } catch (error) {
      failures.push(error)
      settle(call, listener, error)
    }
  }
  return { failures }
}

function announce({ desk, name }: Call, what: string): void {
  desk.logger?.debug?.(`[hooks] running ${name} ${what}`)
}

function isClaim(answer: unknown): answer is Claimed {
  return Boolean((answer as Claimed | null | undefined)?.handled)
}
