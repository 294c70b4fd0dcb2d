import { createRequire } from 'node:module'
import type * as Cel from '@bufbuild/cel'
import type * as Extensions from '@bufbuild/cel/ext'

type Parsed = ReturnType<typeof Cel.parse>
export type Expr = Parsed['expr']
export type SourceInfo = Parsed['sourceInfo']
export type Library = typeof Cel

const require = createRequire(import.meta.url)
let loaded: { readonly cel: Library; readonly strings: readonly Cel.CelFunc[] } | undefined

/** The CEL library takes 150 ms to load, so only the first `if_expr` of a process does; registering is synchronous. */
export function loadCel() {
  if (loaded) return loaded
  const cel: Library = require('@bufbuild/cel')
  const { strings }: typeof Extensions = require('@bufbuild/cel/ext')
  loaded = { cel, strings }
  return loaded
}
