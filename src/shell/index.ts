/** What a shell line does, not how it is spelled. */

export type {
  AnalyzeShell,
  Certainty,
  FileEffect,
  HostEffect,
  OpaqueMark,
  OpaqueReason,
  ShellArgument,
  ShellCommand,
  ShellContext,
  ShellDialect,
  ShellEffects,
} from '../engine/core/shell-effects.ts'
export { analyzeShell } from './analyze-shell.ts'
export { formatShellEffects } from './format-effects.ts'
