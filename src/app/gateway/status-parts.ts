import type { DeliveryWorker } from '../../delivery/delivery-worker.ts'
import { after } from '../../engine/core/after.ts'
import type { Clock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
import type { StatusPart } from '../../gateway/status.ts'
import type { Snapshots } from '../../gateway/tenancy/snapshots.ts'
import type { Store } from '../../store/store.ts'

/** A store that has gone silent is as good as none, and whoever asks must learn it before they give up. */
const SILENT_MS = 2_000

export function storeHealth(store: Pick<Store, 'ping' | 'dialect'>, clock: Clock): StatusPart {
  return async () => {
    try {
      await inTime(store.ping(), clock)
      return { name: 'store', state: 'ok', text: store.dialect }
    } catch (thrown) {
      return { name: 'store', state: 'bad', text: errorText(thrown) }
    }
  }
}

function inTime(asked: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const callOff = after(clock, SILENT_MS, () => reject(new Error(`no answer for ${SILENT_MS} ms`)))
    asked.then(resolve, reject).finally(callOff)
  })
}

/** Hooks that cannot be loaded fail each time they are asked, and somebody must see that. */
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

/** A file that cannot be used keeps its last good hooks; one that nobody trusts has none. Neither may go unnoticed. */
export function fileHealth(snapshots: Snapshots): StatusPart {
  return () => {
    const problems = snapshots.fileProblems()
    const [first] = problems
    if (first === undefined) return { name: 'hook files', state: 'ok', text: 'all that are in use are good' }
    return { name: 'hook files', state: 'warn', text: first, details: { problems } }
  }
}

export function deliveryHealth(worker: () => DeliveryWorker): StatusPart {
  return () => {
    const failure = worker().failure()
    if (failure !== undefined) return { name: 'deliveries', state: 'bad', text: failure }
    return { name: 'deliveries', state: 'ok', text: `${worker().busy()} being delivered` }
  }
}
