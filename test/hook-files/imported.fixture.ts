import type { ImportedFile, ImportResult } from '../../src/hook-files/formats/import-format.ts'

/** What an import that must succeed gave. */
export async function imported(given: Promise<ImportResult>): Promise<ImportedFile> {
  const result = await given
  if (result.kind === 'imported') return result
  throw new Error(result.problems.map(({ message }) => message).join('; '))
}

/** What is wrong with an import that must not succeed. */
export async function refused(given: Promise<ImportResult>) {
  const result = await given
  return result.kind === 'refused' ? result.problems : []
}

export const yaml = (text: string, path = 'hooks.yaml') => ({ text, path })
