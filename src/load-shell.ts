import type { AnalyzeShell } from './engine/core/shell-effects.ts'
import { loadOwnModule } from './engine/core/values/load-own-module.ts'

let loaded: { readonly analyzeShell: AnalyzeShell } | undefined

/** The analyser of shell commands, loaded with its first call: most programs and commands need none. */
export const lazyAnalyzeShell: AnalyzeShell = (line, context) => {
  loaded ??= loadOwnModule<{ readonly analyzeShell: AnalyzeShell }>(import.meta.url, './shell/index')
  return loaded.analyzeShell(line, context)
}
