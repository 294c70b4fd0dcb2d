import { isDeepStrictEqual } from 'node:util'
import type { CommandHost, ConfigEdit, ConfiguredHook } from '../agents/agent-host.ts'
import { stringsAtPath, valueAtPath } from '../agents/config/host-settings.ts'
import { nodeValue, parseConfig, splitByteOrderMark, unusableConfig } from '../agents/config/read-config.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import {
  addHooks,
  foreignContent,
  type HookConfigFile,
  type HookEntry,
  listHooks,
  removeHooks,
} from './edit-hooks.ts'
import { addListItem, removeEmpty, removeValue, setValue } from './edit-json.ts'
import { explainUnreadable } from './explain-unreadable.ts'
import { parseHookCommand } from './hook-command.ts'

/** One file that a connection writes to. */
export interface ConfigTarget {
  readonly path: string
  /** Adds our content. The given text holds none of it. */
  merge(text: string | undefined): string
  /** Removes our content. Returns undefined if nothing else is left of the file. */
  strip(text: string): string | undefined
  /** Whether the text already holds what `merge` would add. */
  isMerged(text: string): boolean
  /** Explains why the agent cannot read this text, or returns undefined. */
  explainUnreadable?(text: string): string | undefined
}

/** Our hooks in an agent's configuration. */
export function listOwnHooks(host: CommandHost, file: string, text: string): ConfiguredHook[] {
  return listHooks(splitByteOrderMark(text).text, { ...host, path: file }).filter(
    (hook) => parseHookCommand(host, hook) !== undefined,
  )
}

/** The matcher of a hook, if it does not match every call. */
export function narrowMatcher({ matcher }: ConfiguredHook): unknown {
  return matcher === '' || matcher === '*' ? undefined : matcher
}

/** The configuration of an agent with command hooks. */
export function hooksTarget(host: CommandHost, path: string, entries: readonly HookEntry[]): ConfigTarget {
  const file = { ...host, path }
  const isOurs = (value: unknown) =>
    isRecord(value) && parseHookCommand(host, { event: '', value }) !== undefined
  return {
    path,
    merge(text) {
      const { mark, text: old } = splitByteOrderMark(text ?? '')
      const next = addHooks(old, file, entries)
      assertUntouched(path, foreignContent(old, file, isOurs), foreignContent(next, file, isOurs))
      return mark + next
    },
    strip(text) {
      const { mark, text: old } = splitByteOrderMark(text)
      const next = removeHooks(old, file, isOurs)
      assertUntouched(path, foreignContent(old, file, isOurs), foreignContent(next, file, isOurs))
      return host.ownFile && next !== old && holdsOnlyPreamble(next, file) ? undefined : mark + next
    },
    explainUnreadable: (text) => explainUnreadable(text, path, host.syntax),
    isMerged: (text) =>
      isDeepStrictEqual(
        // A matcher would keep calls from the hooks.
        sortedJson(
          listOwnHooks(host, path, text).map((hook) => [hook.event, hook.value, narrowMatcher(hook) ?? null]),
        ),
        sortedJson(entries.map(({ event, value }) => [event, value, null])),
      ),
  }
}

/** A configuration that gets single values, such as the entry of a plugin. */
export function editsTarget(path: string, edits: readonly ConfigEdit[]): ConfigTarget {
  const assertSame = (before: string, after: string) =>
    assertUntouched(path, withoutEdits(before, path, edits), withoutEdits(after, path, edits))
  return {
    path,
    merge(text) {
      const { mark, text: old } = splitByteOrderMark(text ?? '')
      const value = configValue(old, path)
      let next = old
      for (const edit of edits) {
        if (edit.kind === 'value') next = setValue({ text: next, path }, edit.path, edit.value)
        else if (!edit.onlyIfListed || Array.isArray(valueAtPath(value, ...edit.path)))
          next = addListItem({ text: next, path }, edit.path, edit.item)
      }
      assertSame(old, next)
      return mark + next
    },
    strip(text) {
      const { mark, text: old } = splitByteOrderMark(text)
      const stripped = removeEdits(old, path, edits)
      const next = stripped === old ? old : removeEmptied(stripped, path, edits)
      assertSame(old, next)
      return mark + next
    },
    isMerged(text) {
      const value = configValue(splitByteOrderMark(text).text, path)
      return edits.every((edit) => isApplied(edit, value))
    },
  }
}

function isApplied(edit: ConfigEdit, config: unknown): boolean {
  const found = valueAtPath(config, ...edit.path)
  if (edit.kind === 'value') return JSON.stringify(found) === JSON.stringify(edit.value)
  if (edit.onlyIfListed && !Array.isArray(found)) return true
  return isDeepStrictEqual(stringsAtPath(config, ...edit.path).filter(edit.isOurs), [edit.item])
}

function removeEdits(text: string, path: string, edits: readonly ConfigEdit[]): string {
  return edits.reduce(
    (now, edit) =>
      removeValue({ text: now, path }, edit.path, edit.kind === 'value' ? () => true : edit.isOurs),
    text,
  )
}

/** Removes the containers that the edits may have created. A list that must exist before the edit stays. */
function removeEmptied(text: string, path: string, edits: readonly ConfigEdit[]): string {
  return edits.reduce((now, edit) => {
    if (edit.kind === 'value') return removeEmpty({ text: now, path }, edit.path.slice(0, -1))
    return edit.onlyIfListed ? now : removeEmpty({ text: now, path }, edit.path)
  }, text)
}

/** The configuration without our values and without emptied containers, for comparison. */
function withoutEdits(text: string, path: string, edits: readonly ConfigEdit[]): string {
  return JSON.stringify(configValue(removeEmptied(removeEdits(text, path, edits), path, edits), path))
}

function configValue(text: string, path: string): unknown {
  const { root } = parseConfig(text, path)
  return root === undefined ? {} : nodeValue(root)
}

/** A file that only Hookhelm writes. */
export function ownFileTarget(path: string, content: string): ConfigTarget {
  return {
    path,
    merge(text) {
      if (text !== undefined && text.trim() !== '')
        throw unusableConfig(path, 'exists already, and Hookhelm did not write it', 'Move it away first.')
      return content
    },
    strip: (text) => (isOwnFile(text) ? undefined : text),
    isMerged: (text) => text === content,
  }
}

/** Whether Hookhelm wrote this file. */
export function isOwnFile(text: string): boolean {
  return /^\/\/ Written by Hookhelm |"(?:name|id)": "hookhelm"/.test(text.slice(0, 200))
}

/** Refuses to write an edit that would change what others wrote. */
function assertUntouched(path: string, before: unknown, after: unknown): void {
  if (isDeepStrictEqual(before, after)) return
  throw unusableConfig(
    path,
    'cannot be edited without changing what others wrote',
    'Please report this, with the file.',
  )
}

/** Whether only the preamble is left: no hook of others, and no comment. */
function holdsOnlyPreamble(text: string, file: HookConfigFile): boolean {
  return (
    !/\/[/*]/.test(text) &&
    isDeepStrictEqual(
      foreignContent(text, file, () => false),
      { lists: [], rest: [] },
    )
  )
}

function sortedJson(list: readonly unknown[]): string[] {
  return list.map((each) => JSON.stringify(each)).sort()
}
