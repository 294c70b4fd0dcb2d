import type { ImportedFile, ImportResult } from './import-format.ts'

/** What an import that must succeed gave. */
export function imported(result: ImportResult): ImportedFile {
  if (result.kind === 'imported') return result
  throw new Error(result.problems.map(({ message }) => message).join('; '))
}

/** What is wrong with an import that must not succeed. */
export function refused(result: ImportResult) {
  return result.kind === 'refused' ? result.problems : []
}

export const yaml = (text: string, path = 'hooks.yaml') => ({ text, path })
