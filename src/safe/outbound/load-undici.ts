import { createRequire } from 'node:module'
import type * as Undici from 'undici'

const require = createRequire(import.meta.url)

/** Loads undici with the first outgoing call: most processes make none. Node caches the module. */
export function loadUndici(): typeof Undici {
  return require('undici')
}
