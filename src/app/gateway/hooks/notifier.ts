/** Lets a part notify parts that are created after it. */
export interface Notifier<T> {
  /** Resolves when every listener is done. */
  notify(value: T): Promise<void>
  listen(listener: (value: T) => unknown): void
}

export function createNotifier<T>(): Notifier<T> {
  const listeners: ((value: T) => unknown)[] = []
  return {
    async notify(value) {
      await Promise.all(listeners.map((listener) => listener(value)))
    },
    listen(listener) {
      listeners.push(listener)
    },
  }
}
