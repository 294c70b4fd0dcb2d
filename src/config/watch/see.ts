import type { HookError } from '../../engine/core/error.ts'
import { usurped } from '../armed.ts'
import { type HookPlace, hookFileIn } from '../find.ts'
import { type FileProblem, wholeFile } from '../problem.ts'
import { type LoadedFile, loadFile, type Owner, unreadable } from '../read/load.ts'
import { type ReadOptions, readHookText } from '../read/read-text.ts'
import type { HookFile } from '../schema/hook-file.ts'
import type { TrustStore } from '../trust.ts'
import { asHookError } from './as-hook-error.ts'

/**
 * none: there is no file · good: its hooks are in use · red: it cannot be used, those it had before stay ·
 * untrusted: nobody agreed to this content, those trusted before stay
 */
export type FileState = 'none' | 'good' | 'red' | 'untrusted'

export interface SeeParts extends ReadOptions {
  /** Files of a repository are inert without. */
  readonly trust?: TrustStore
  readonly owner?: Owner
}

/** What one look found. */
export interface Look {
  /** Tells two contents apart, so that nothing is read or reported twice. */
  readonly content: string
  readonly state: FileState
  readonly file?: string
  readonly problems?: readonly FileProblem[]
  /** To be taken into use. */
  readonly take?: HookFile
  readonly text?: string
}

export interface Before {
  readonly content: string | undefined
  /** The file whose hooks are in use. */
  readonly file: string | undefined
}

const NOTHING: HookFile = { hooks: [] }

/** Looks at the one file of a folder, as it is now. */
export function see(place: HookPlace, parts: SeeParts, before: Before): Look {
  let file: string | undefined
  try {
    file = hookFileIn(place.folder)
    if (file === undefined) return missing(before)
    const { owner } = parts
    const loaded = loadFile(file, place.level, owner === undefined ? {} : { owner })
    return loaded === undefined ? missing(before) : judge({ place, parts, before, file }, loaded)
  } catch (error) {
    return red(file ?? place.folder, asHookError(error))
  }
}

function missing({ file }: Before): Look {
  return file === undefined ? { content: 'none', state: 'none' } : red(file, unreadable(file, 'is gone'))
}

function red(file: string, error: HookError): Look {
  const content = `${file} ${error.code} ${error.message}`
  return { content, state: 'red', file, problems: [wholeFile(file, error)] }
}

interface Case {
  readonly place: HookPlace
  readonly parts: SeeParts
  readonly before: Before
  readonly file: string
}

function judge({ place, parts, before, file }: Case, { text, hash }: LoadedFile): Look {
  const known = place.level !== 'repository' ? 'trusted' : (parts.trust?.state(file, text) ?? 'new')
  const content = `${file} ${hash} ${known}`
  if (content === before.content) return { content, state: 'good' }
  // A change keeps what was trusted before; trust that was taken away leaves nothing.
  if (known === 'changed') return { content, state: 'untrusted', file }
  if (known === 'new') return { content, state: 'untrusted', file, take: NOTHING }
  const read = readHookText(text, file, { ...parts, also: (hooks) => usurped(hooks, place) })
  return read.kind === 'bad'
    ? { content, state: 'red', file, problems: read.problems }
    : { content, state: 'good', file, take: read.file, text }
}
