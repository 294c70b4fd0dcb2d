import type { MergeResults } from '../../../core/event.ts'
import { last, sticky } from '../../../core/merge.ts'

// Not checked here: where nothing was checked before, findings that are no list fail as if the plugin had thrown.
type Findings = Iterable<unknown> | null | undefined

/** Findings pile up in order; none at all means nothing said. */
export const mergeInstall: MergeResults = (before, next) => {
  const earlierFindings = (before?.findings as Findings) ?? []
  const newFindings = (next.findings as Findings) ?? []
  const findings = [...earlierFindings, ...newFindings]
  return {
    findings: findings.length > 0 ? findings : undefined,
    block: sticky.merge(before?.block, next.block),
    blockReason: last.merge(before?.blockReason, next.blockReason),
  }
}
