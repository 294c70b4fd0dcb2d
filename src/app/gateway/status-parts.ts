import type { DeliveryWorker } from '../../delivery/worker.ts'
import { errorText } from '../../engine/core/error.ts'
import type { StatusPart } from '../../gateway/status.ts'
import type { Snapshots } from '../../gateway/tenancy/snapshots.ts'
import type { Store } from '../../store/store.ts'

export function storeHealth(store: Pick<Store, 'ping' | 'dialect'>): StatusPart {
  return async () => {
    try {
      await store.ping()
      return { name: 'store', state: 'ok', text: store.dialect }
    } catch (thrown) {
      return { name: 'store', state: 'bad', text: errorText(thrown) }
    }
  }
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

export function deliveryHealth(worker: () => DeliveryWorker): StatusPart {
  return () => {
    const failure = worker().failure()
    if (failure !== undefined) return { name: 'deliveries', state: 'bad', text: failure }
    return { name: 'deliveries', state: 'ok', text: `${worker().busy()} being delivered` }
  }
}
