import { isRecord } from '../core/schema/check.ts'

const pathKeys = ['file_path', 'filePath', 'path', 'notebook_path'] as const
/** Each path of a list is an argument of its own, so that a pattern for one file finds it among others. */
const pathLists = ['file_paths', 'paths'] as const

/** The paths among the arguments of a call. */
export function readPaths(toolInput: unknown): readonly string[] {
  if (!isRecord(toolInput)) return []
  const listed = pathLists.flatMap((key) => {
    const value = ownValue(toolInput, key)
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
  })
  return [...readTexts(toolInput, pathKeys), ...listed]
}

/** The texts at these keys; a list of texts counts as one, joined by spaces. */
export function readTexts(input: unknown, keys: readonly string[]): string[] {
  if (!isRecord(input)) return []
  return keys.flatMap((key) => {
    const value = ownValue(input, key)
    if (typeof value === 'string') return [value]
    return isTexts(value) ? [value.join(' ')] : []
  })
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
}

export function ownValue(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
