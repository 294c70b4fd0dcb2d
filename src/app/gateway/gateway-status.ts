import type { DeliveryWorker } from '../../delivery/delivery-worker.ts'
import { after } from '../../engine/core/after.ts'
import type { Clock } from '../../engine/core/clock.ts'
import type { Edition } from '../../engine/core/edition.ts'
import { errorText } from '../../engine/core/error.ts'
import { NO_FOLDER, usesHookFiles } from '../../gateway/dispatch/event-folders.ts'
import type { StatusPart } from '../../gateway/status.ts'
import type { Snapshots } from '../../gateway/tenancy/snapshots.ts'
import type { Store } from '../../store/store.ts'

/** A store without an answer by then counts as down; load balancers give up soon after. */
const PING_TIMEOUT_MS = 2_000

export function storeHealth(store: Pick<Store, 'ping' | 'dialect'>, clock: Clock): StatusPart {
  return async () => {
    try {
      await withTimeout(store.ping(), clock)
      return { name: 'store', state: 'ok', text: store.dialect }
    } catch (thrown) {
      return { name: 'store', state: 'bad', text: errorText(thrown) }
    }
  }
}

function withTimeout(pinged: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const callOff = after(clock, PING_TIMEOUT_MS, () =>
      reject(new Error(`no answer for ${PING_TIMEOUT_MS} ms`)),
    )
    pinged.then(resolve, reject).finally(callOff)
  })
}

/** A hook that cannot be loaded fails at every event, so it must be visible here. */
export function hookHealth(snapshots: Snapshots): StatusPart {
  return async (tenant) => {
    try {
      const { rows, broken } = await snapshots.of(tenant)
      if (broken.size === 0) return { name: 'hooks', state: 'ok', text: `${rows.size} loaded` }
      const details = Object.fromEntries(broken)
      return {
        name: 'hooks',
        state: 'warn',
        text: `${broken.size} of ${rows.size} cannot be loaded`,
        details,
      }
    } catch (thrown) {
      return { name: 'hooks', state: 'bad', text: `cannot be loaded: ${errorText(thrown)}` }
    }
  }
}

/**
 * Every hook file that is not in use as it is written must be visible here. The standard edition and the demo read no
 * hook files.
 */
export function fileHealth(snapshots: Snapshots, edition: Edition): StatusPart {
  const name = 'hook files'
  return async (tenant) => {
    if (!usesHookFiles(tenant, edition))
      return { name, state: 'ok', text: `not used in ${edition === 'lite' ? 'the demo' : 'this edition'}` }
    try {
      await snapshots.of(tenant, NO_FOLDER)
    } catch (thrown) {
      // The files of the administrator and the user belong to every event, so all gates block.
      const text = `gates block: ${errorText(thrown)}`
      return { name, state: 'bad', text, details: { problems: [errorText(thrown)] } }
    }
    const problems = (await snapshots.fileNotices(tenant)).map(({ text }) => text)
    const [first] = problems
    if (first === undefined) return { name, state: 'ok', text: 'all valid' }
    const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`
    return { name, state: 'warn', text: `${first}${more}`, details: { problems } }
  }
}

export function deliveryHealth(worker: Pick<DeliveryWorker, 'failure' | 'busy'>): StatusPart {
  return () => {
    const failure = worker.failure()
    if (failure !== undefined) return { name: 'deliveries', state: 'bad', text: failure }
    return { name: 'deliveries', state: 'ok', text: `${worker.busy()} in progress` }
  }
}
