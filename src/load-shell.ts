import type { AnalyzeShell } from './engine/core/shell-effects.ts'
import { lazyModule } from './engine/core/values/lazy-module.ts'

const shell = lazyModule<{ readonly analyzeShell: AnalyzeShell }>(import.meta.url, './shell/index')

/** The analyser of shell commands, loaded with its first call: most programs and commands need none. */
export const lazyAnalyzeShell: AnalyzeShell = (line, context) => shell().analyzeShell(line, context)
