import { isDeepStrictEqual } from 'node:util'
import { callIn } from './call-entry.ts'
import type { CommandHost } from './host.ts'
import { unusable, withoutMark } from './text/config-text.ts'
import {
  type HookEntry,
  type HookFile,
  hooksIn,
  othersIn,
  type PlacedHook,
  withHooks,
  withoutHooks,
} from './text/hook-lists.ts'
import { unreadBecause } from './text/readable.ts'

/** One file that a connection writes to. */
export interface Target {
  readonly path: string
  /** With what is ours in it; `text` never has any yet. */
  merged(text: string | undefined): string
  /** Without what is ours; nothing when nothing else is left of the file. */
  stripped(text: string): string | undefined
  /** Whether it already says what `merged` would write. */
  isMerged(text: string): boolean
  /** Why the agent would not read this, or nothing. */
  unread?(text: string): string | undefined
}

/** The hooks of ours in an agent's configuration. */
export function oursIn(host: CommandHost, file: string, text: string): PlacedHook[] {
  return hooksIn(withoutMark(text).text, hookFile(host, file)).filter(
    (hook) => callIn(host, hook) !== undefined,
  )
}

function hookFile({ layout, preamble, notEvents }: CommandHost, path: string): HookFile {
  return {
    path,
    layout,
    ...(preamble === undefined ? {} : { preamble }),
    ...(notEvents === undefined ? {} : { notEvents }),
  }
}

/** The configuration of an agent with command hooks. */
export function hooksTarget(host: CommandHost, path: string, entries: readonly HookEntry[]): Target {
  const file = hookFile(host, path)
  const isOurs = (value: unknown) => isPlain(value) && callIn(host, { event: '', value }) !== undefined
  const plain = ({ event, value }: HookEntry) => [event, { ...value }]
  return {
    path,
    merged(text) {
      const { mark, text: old } = withoutMark(text ?? '')
      const next = withHooks(old, file, entries)
      verify(path, othersIn(old, file, isOurs), othersIn(next, file, isOurs))
      return mark + next
    },
    stripped(text) {
      const { mark, text: old } = withoutMark(text)
      const next = withoutHooks(old, file, isOurs)
      verify(path, othersIn(old, file, isOurs), othersIn(next, file, isOurs))
      return host.ownFile && next !== old && isOnlyPreamble(next, file) ? undefined : mark + next
    },
    unread: (text) => unreadBecause(text, path, host.reads),
    isMerged: (text) =>
      isDeepStrictEqual(byEvent(oursIn(host, path, text).map(plain)), byEvent(entries.map(plain))),
  }
}

/** A file that is ours from its first to its last line. */
export function ownFileTarget(path: string, content: string): Target {
  return {
    path,
    merged(text) {
      if (text !== undefined && text.trim() !== '')
        throw unusable(path, 'is there already and is not ours', 'Move it away first.')
      return content
    },
    stripped: (text) => (isOurFile(text) ? undefined : text),
    isMerged: (text) => text === content,
  }
}

/** Whether a file is one that we write as a whole. */
export function isOurFile(text: string): boolean {
  return /^\/\/ Written by Hookhelm |"(?:name|id)": "hookhelm"/.test(text.slice(0, 200))
}

/** An edit that would change more than it should is never written. */
export function verify(path: string, before: unknown, after: unknown): void {
  if (isDeepStrictEqual(before, after)) return
  throw unusable(
    path,
    'cannot be edited without changing what others wrote',
    'Please report this, with the file.',
  )
}

/** Nothing is left that anybody wrote, not even a comment. */
function isOnlyPreamble(text: string, file: HookFile): boolean {
  return (
    !/\/[/*]/.test(text) &&
    isDeepStrictEqual(
      othersIn(text, file, () => false),
      { lists: [], rest: [] },
    )
  )
}

function byEvent(list: readonly unknown[]): unknown[] {
  return list.map((each) => JSON.stringify(each)).sort()
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
