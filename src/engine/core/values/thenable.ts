/** Whether a value is a promise or has a `then` method. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (value instanceof Promise) return true
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Lets a promise that nobody waits for any more fail without a word. */
export function abandon(value: PromiseLike<unknown>): void {
  Promise.resolve(value).then(undefined, () => {})
}
