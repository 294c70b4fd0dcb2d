import { afterEach, beforeEach } from 'vitest'

/** Collects rejections that nobody handled while a test of this file runs. */
export function watchUnhandled(): unknown[] {
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown) => void unhandled.push(reason)
  beforeEach(() => {
    unhandled.length = 0
    process.on('unhandledRejection', onUnhandled)
  })
  afterEach(() => {
    process.off('unhandledRejection', onUnhandled)
  })
  return unhandled
}
