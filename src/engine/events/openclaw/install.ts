import { defineEvent, field, type MergeResults } from '../../core/event.ts'
import { concat, last, sticky } from '../../core/merge.ts'
import { flag, list, object, oneOf, optional, shape, text } from '../../core/schema/check.ts'
import { blockWhen } from './gate-decision.ts'

export interface InstallFinding {
  readonly ruleId: string
  readonly severity: 'info' | 'warn' | 'critical'
  readonly file: string
  readonly line: number
  readonly message: string
}

export type InstallRequestKind =
  | 'skill-install'
  | 'plugin-dir'
  | 'plugin-archive'
  | 'plugin-file'
  | 'plugin-npm'
  | 'plugin-git'

export interface InstallRequest {
  readonly kind: InstallRequestKind
  readonly mode: 'install' | 'update'
  readonly requestedSpecifier?: string
}

export interface InstallScan {
  readonly status: 'ok' | 'error'
  readonly scannedFiles: number
  readonly critical: number
  readonly warn: number
  readonly info: number
  readonly findings: InstallFinding[]
  readonly error?: string
}

export interface SkillToInstall {
  readonly installId: string
  readonly installSpec?: {
    readonly kind: 'brew' | 'node' | 'go' | 'uv' | 'download'
    readonly id?: string
    readonly label?: string
    readonly bins?: string[]
    readonly os?: string[]
    readonly formula?: string
    readonly package?: string
    readonly module?: string
    readonly url?: string
    readonly archive?: string
    readonly extract?: boolean
    readonly stripComponents?: number
    readonly targetDir?: string
  }
}

export interface PluginToInstall {
  readonly pluginId: string
  readonly contentType: 'bundle' | 'package' | 'file'
  readonly packageName?: string
  readonly manifestId?: string
  readonly version?: string
  readonly extensions?: string[]
}

// Not checked: findings that are not a list fail as if the plugin had thrown, as in the original.
type Findings = Iterable<unknown> | null | undefined

/** Findings are concatenated; without any the field is undefined. */
const mergeInstall: MergeResults = (before, next) => {
  const earlierFindings = (before?.findings as Findings) ?? []
  // Written out: the message of the TypeError is logged, and names the expression as in the original.
  const findings = [...earlierFindings, ...((next.findings as Findings) ?? [])]
  return {
    findings: findings.length > 0 ? findings : undefined,
    block: sticky.merge(before?.block, next.block),
    blockReason: last.merge(before?.blockReason, next.blockReason),
  }
}

export const installRows = {
  before_install: defineEvent({
    about: 'A skill or plugin was scanned and is about to be installed.',
    mode: 'gate',
    payload: shape({
      targetType: oneOf('skill', 'plugin'),
      targetName: text,
      sourcePath: text,
      sourcePathKind: oneOf('file', 'directory'),
      origin: optional(text),
      request: object<InstallRequest>(),
      builtinScan: object<InstallScan>(),
      skill: optional(object<SkillToInstall>()),
      plugin: optional(object<PluginToInstall>()),
    }),
    fields: {
      findings: field(list<InstallFinding>(), concat),
      block: field(flag, sticky),
      blockReason: field(text, last),
    },
    merge: mergeInstall,
    verdict: blockWhen('block', 'a hook blocked this install', 'blockReason'),
    subject: 'targetName',
  }),
}
