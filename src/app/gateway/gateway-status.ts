import type { DeliveryWorker } from '../../delivery/delivery-worker.ts'
import { after } from '../../engine/core/after.ts'
import type { Clock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
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

/** An invalid file keeps its last valid hooks; an untrusted file has none. Both must be visible here. */
export function fileHealth(snapshots: Snapshots): StatusPart {
  return () => {
    const problems = snapshots.fileProblems()
    const [first] = problems
    if (first === undefined) return { name: 'hook files', state: 'ok', text: 'all valid' }
    return { name: 'hook files', state: 'warn', text: first, details: { problems } }
  }
}

export function deliveryHealth(worker: Pick<DeliveryWorker, 'failure' | 'busy'>): StatusPart {
  return () => {
    const failure = worker.failure()
    if (failure !== undefined) return { name: 'deliveries', state: 'bad', text: failure }
    return { name: 'deliveries', state: 'ok', text: `${worker.busy()} in progress` }
  }
}
