import type { AuditQueue } from '../../gateway/audit/queue.ts'
import type { Store } from '../../store/store.ts'

/** The store as methods see it: whoever reads what was recorded finds what was answered a moment ago. */
export function readsAfter(store: Store, audit: Pick<AuditQueue, 'flushed'>): Store {
  return {
    ...store,
    history: (...args) => audit.flushed().then(() => store.history(...args)),
    findEvent: (...args) => audit.flushed().then(() => store.findEvent(...args)),
    errorDetail: (...args) => audit.flushed().then(() => store.errorDetail(...args)),
    sessionEvents: (...args) => audit.flushed().then(() => store.sessionEvents(...args)),
    listSessions: (...args) => audit.flushed().then(() => store.listSessions(...args)),
    verifyAudit: () => audit.flushed().then(() => store.verifyAudit()),
  }
}
