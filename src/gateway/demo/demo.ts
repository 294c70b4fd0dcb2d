import { randomUUID } from 'node:crypto'
import { callerWithoutToken } from '../../access/caller.ts'
import { demoTenants } from '../../access/demo-tenants.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { after } from '../../engine/core/time/after.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { HookParts } from '../../methods/method-parts.ts'
import { hookDeliveries } from '../../pipeline/hook-delivery.ts'
import { Semaphore } from '../../safe/semaphore.ts'
import type { Store } from '../../store/store.ts'
import { createHook } from '../../stored-hooks/saving/change-hook.ts'
import type { Dispatcher } from '../dispatch.ts'
import { demoHooks, TRIPPING_HOOK } from './demo-hooks.ts'
import { demoSessions } from './demo-sessions.ts'
import { playSessions } from './play-sessions.ts'

/** Scripted agents in tenants of their own, without any model. */
export interface Demo {
  /** Creates the tenants and their hooks, and sends the events of the agents. False if the demo exists already. */
  play(): Promise<boolean>
  /** Removes the tenants with everything in them. False if there is no demo. */
  remove(): Promise<boolean>
}

interface DemoParts extends HookParts {
  readonly dispatcher: Dispatcher
  /** Makes callers of a removed tenant be refused at once. */
  forgetTokens(): void
  /** Resolves when every earlier event is written. */
  recorded(): Promise<void>
  /** Makes the delivery worker look for due deliveries now. */
  wakeDeliveries(): void
}

const tenantKeys = ['main', 'partner'] as const

export function createDemo(parts: DemoParts): Demo {
  const { store, edition } = parts
  // One at a time: a removal while the agents play would leave the events that follow.
  const turns = new Semaphore(1)
  const inTurn = async (work: () => Promise<boolean>): Promise<boolean> => {
    await turns.take()
    try {
      return await work()
    } finally {
      turns.release()
    }
  }
  return {
    play: () =>
      inTurn(async () => {
        if ((await store.findTenant(demoTenants.main.id)) !== undefined) return false
        const keys = tenantKeys.filter((key) => key === 'main' || edition === 'standard')
        for (const key of keys) await assertNameIsFree(demoTenants[key].name, store)
        try {
          for (const key of keys) await playTenant(key, parts)
        } catch (thrown) {
          // Half a demo would keep it from being played again. Its first error says more than one of the removal.
          await removeTenants(parts).catch(() => {})
          throw thrown
        }
        return true
      }),
    remove: () => inTurn(() => removeTenants(parts)),
  }
}

async function removeTenants({ store, forgetTokens, changed }: DemoParts): Promise<boolean> {
  const removed: boolean[] = []
  for (const { id } of Object.values(demoTenants)) {
    removed.push(await store.deleteTenant(id))
    forgetTokens()
    await changed(id)
  }
  return removed.includes(true)
}

/** A person may have a tenant of that name, and both could not be told apart. */
async function assertNameIsFree(name: string, store: Store): Promise<void> {
  if ((await store.findTenant(name)) === undefined) return
  throw serverError('gateway.conflict', `there is already a tenant named ${name}`, {
    hint: 'The demo needs this name. Delete or rename the tenant to play it.',
  })
}

async function playTenant(key: (typeof tenantKeys)[number], parts: DemoParts): Promise<void> {
  const { store, clock, dispatcher } = parts
  const tenant = demoTenants[key]
  const caller = callerWithoutToken(tenant.id, 'demo', 'admin')
  await store.deleteTenant(tenant.id)
  await store.createTenant({ ...tenant, created_at: clock.now() })
  for (const hook of demoHooks[key]) await createHook(hook, caller, parts)
  await playSessions(demoSessions[key], { dispatcher, caller, now: clock.now() })
  await parts.recorded()
  if (key === 'main') await queueDeadLetter(tenant.id, parts)
  await waitUntil(clock, () => isSettled(tenant.id, store))
}

/** Queues a delivery of a hook that was deleted since. The worker gives it up, so that Guards has one to show. */
async function queueDeadLetter(tenant: string, { store, wakeDeliveries }: DemoParts): Promise<void> {
  const ended = await store.listEvents(tenant, { event: 'session_end' }, { limit: 1 })
  for (const { event_id: id, event, session_id, created_at: time } of ended.rows) {
    const envelope = { id, tenant, time, ...(session_id === null ? {} : { session: session_id }) }
    const deleted = { id: randomUUID(), event, handler_type: 'http' }
    const cause = { event, payload: { reason: 'exit' }, envelope }
    await store.recordEvents([], hookDeliveries([deleted], cause), [])
    wakeDeliveries()
  }
}

/** Whether the observers have run, the worker gave up the rest, and the breaker's trip is stored. All follow the answers. */
async function isSettled(tenant: string, store: Store): Promise<boolean> {
  const { rows } = await store.listDeliveries(tenant, {}, { limit: 10 })
  const hooks = await store.listHooks(tenant)
  const isTripped = hooks.every(({ name, enabled }) => name !== TRIPPING_HOOK || !enabled)
  return rows.every(({ state }) => state === 'dead') && isTripped
}

const POLL_MS = 20
const MAX_POLLS = 250

/** Asks until the answer is yes; after five seconds it continues without. */
async function waitUntil(clock: Clock, ask: () => Promise<boolean>): Promise<void> {
  for (let polls = 0; polls < MAX_POLLS && !(await ask()); polls++)
    await new Promise<void>((resolve) => {
      after(clock, POLL_MS, resolve)
    })
}
