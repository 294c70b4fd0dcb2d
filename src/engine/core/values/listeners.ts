/** Those who want to know when something happens. */
export interface Listeners<T = void> {
  /** Adds a listener; returns its undo. */
  on(listener: (value: T) => unknown): () => void
  /** Calls every listener, and resolves when all are done. */
  notify(value: T): Promise<unknown>
}

export function createListeners<T = void>(): Listeners<T> {
  const listeners = new Set<(value: T) => unknown>()
  return {
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    notify: (value) => Promise.all([...listeners].map((listener) => listener(value))),
  }
}
