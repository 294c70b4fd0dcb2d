import type { FileChange } from '../connect/connection.ts'

/** Changes as a unified diff. */
export function changesText(changes: readonly FileChange[]): string {
  if (changes.length === 0) return 'nothing would change'
  return changes
    .map(({ path, kind, diff }) =>
      [
        `--- ${kind === 'made' ? '/dev/null' : path}`,
        `+++ ${kind === 'removed' ? '/dev/null' : path}`,
        diff,
      ].join('\n'),
    )
    .join('\n')
}
