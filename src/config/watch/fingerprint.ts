import { statSync } from 'node:fs'
import { type HookPlace, hookFileNames } from '../find.ts'
import type { TrustStore } from '../trust.ts'

/**
 * Whether files may have changed, told without reading them. The time of a change of status is part of it: whoever
 * writes the file cannot set it back.
 */
export function fingerprint({ folder, level }: HookPlace, trust: TrustStore | undefined): string {
  const store = level === 'repository' && trust !== undefined ? [trust.file] : []
  return [...hookFileNames(folder), ...store]
    .map(statOf)
    .map((stats) =>
      stats === undefined ? '-' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`,
    )
    .join(' | ')
}

function statOf(path: string) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    // A folder we may not look into holds nothing for us; the look itself says why.
    return undefined
  }
}
