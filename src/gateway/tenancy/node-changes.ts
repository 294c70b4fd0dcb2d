/** What this node changed or noticed, for subscribers that should not wait for the next poll. */
export interface NodeChanges {
  /** How often hook files were loaded. They are not in the store, so its marks do not show them. */
  fileLoads(): number
  /** Calls the listener after each change; returns its undo. */
  on(listener: () => void): () => void
  notify(): void
  notifyFileLoad(): void
}

export function createNodeChanges(): NodeChanges {
  const listeners = new Set<() => void>()
  let loads = 0
  const notify = () => {
    for (const listener of listeners) listener()
  }
  return {
    fileLoads: () => loads,
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    notify,
    notifyFileLoad() {
      loads++
      notify()
    },
  }
}
