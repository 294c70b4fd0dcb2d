import type { Secrets } from '../../safe/secret.ts'
import type { Store } from '../../store/store.ts'

/** Keeps the count of encryptions under each key across restarts: a key may be used only so often. */
export function keyUses(secrets: Secrets, store: Pick<Store, 'addKeyUses'>): { keep(): Promise<void> } {
  let kept = secrets.used()
  return {
    async keep() {
      const now = secrets.used()
      const added = Object.entries(now).flatMap(([id, times]) => {
        const more = times - (kept[id] ?? 0)
        return more > 0 ? [[id, more] as const] : []
      })
      kept = now
      if (added.length > 0) await store.addKeyUses(Object.fromEntries(added))
    },
  }
}
