import { createRequire } from 'node:module'
import type * as Undici from 'undici'

const require = createRequire(import.meta.url)
let undici: typeof Undici | undefined

/** Loads undici with the first outgoing call, because most processes make none. */
export function loadUndici(): typeof Undici {
  undici ??= require('undici') as typeof Undici
  return undici
}
