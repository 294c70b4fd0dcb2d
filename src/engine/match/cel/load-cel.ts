import { createRequire } from 'node:module'
import type * as Cel from '@bufbuild/cel'
import type * as Extensions from '@bufbuild/cel/ext'

type Parsed = ReturnType<typeof Cel.parse>
export type Expr = Parsed['expr']
export type SourceInfo = Parsed['sourceInfo']
export type CelLibrary = typeof Cel

const require = createRequire(import.meta.url)
let loaded: { readonly cel: CelLibrary; readonly strings: readonly Cel.CelFunc[] } | undefined

/**
 * Loads the CEL library with the first `if_expr` of a process, because that takes 150 ms. It uses `require` because
 * registering a hook is synchronous.
 */
export function loadCel() {
  if (loaded) return loaded
  const cel: CelLibrary = require('@bufbuild/cel')
  const { strings }: typeof Extensions = require('@bufbuild/cel/ext')
  loaded = { cel, strings }
  return loaded
}
