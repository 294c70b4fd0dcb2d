/** What a shell line does, not how it is spelled. */
export { analyzeShell } from './analyze-shell.ts'
export { formatShellEffects } from './format-effects.ts'
export type {
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
} from './shell-effects.ts'
