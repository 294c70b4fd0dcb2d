import { HookError } from '../../engine/core/error.ts'
import { wholeFile } from '../problem.ts'
import { type Level, loadFile, type Owner, unreadable } from './load.ts'
import { type ReadOptions, type ReadResult, readHookText } from './read-text.ts'

export interface ReadFileOptions extends ReadOptions {
  readonly level?: Level
  readonly owner?: Owner
}

/** Reads a hook file from disk. Nothing about its content throws: what is wrong with it is the answer. */
export function readHookFile(path: string, options: ReadFileOptions = {}): ReadResult {
  try {
    const { level = 'user', owner } = options
    const loaded = loadFile(path, level, owner === undefined ? {} : { owner })
    if (loaded === undefined) throw unreadable(path, 'is not there')
    return readHookText(loaded.text, path, options)
  } catch (error) {
    if (error instanceof HookError) return { kind: 'bad', problems: [wholeFile(path, error)] }
    throw error
  }
}
