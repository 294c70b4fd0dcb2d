import { isDeepStrictEqual } from 'node:util'
import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { problemsError } from '../file-problem.ts'
import { parseSource, readHookText } from '../read/read-hook-file.ts'
import { lineAndColumn } from '../read/source.ts'

/** One hook of a YAML file: its lines, from the comment above it to its last line. */
export interface HookFileEntry {
  readonly id: string
  readonly text: string
}

/** What to do with the hooks of a file, by id. */
export interface HookListEdit {
  /** New hooks for the end of the list. */
  readonly add: readonly HookFileEntry[]
  /** Hooks that get another text in their place. */
  readonly replace: readonly HookFileEntry[]
  readonly remove: readonly string[]
}

/** The hooks of a YAML hook file with their texts. */
export function readHookEntries(text: string, path: string): HookFileEntry[] {
  const { lines, entries } = locateEntries(text, path)
  return entries.map(({ id, comment, end }) => ({ id, text: lines.slice(comment, end).join('\n') }))
}

/** Returns the text of a YAML hook file with other hooks. Every other line stays as it is. */
export function editHookList(text: string, path: string, edit: HookListEdit): string {
  const { lines, entries, indent, listStart, isEmptyList } = locateEntries(text, path)
  const eol = text.includes('\r\n') ? '\r' : ''
  const write = (entry: HookFileEntry) => reindent(entry.text, indent).map((line) => line + eol)
  const added = edit.add.flatMap((entry, index) => [
    ...(entries.length + index === 0 ? [] : [eol]),
    ...write(entry),
  ])
  if (isEmptyList) lines[listStart] = `hooks:${eol}`
  const last = entries.at(-1)?.end ?? listStart + 1
  lines.splice(last, 0, ...added)
  for (const { id, comment, start, end } of entries.toReversed()) {
    const replacement = edit.replace.find((entry) => entry.id === id)
    if (replacement !== undefined) {
      lines.splice(start, end - start, ...withoutComment(write(replacement)))
    } else if (edit.remove.includes(id)) {
      const [from, to] = withBlankLine(lines, comment, end)
      lines.splice(from, to - from)
    }
  }
  const edited = closeEmptyList(lines.join('\n'), path)
  assertOthersUnchanged({ before: text, after: edited, path }, edit)
  return edited
}

/**
 * The entries of the list, each from the first line of its comment to the line after its last one. The parser finds them, so that
 * a text in a block which looks like one is not taken for it.
 */
function locateEntries(text: string, path: string) {
  const source = parseSource(text, path)
  if (source instanceof HookError) throw source
  const read = readHookText(text, path)
  if (read.kind === 'bad') throw problemsError(read.problems)
  const lines = text.split('\n')
  const lineOf = (offset: number) => lineAndColumn(text, offset).line - 1
  const listStart = lineOf(source.offset(['hooks'], 'key'))
  const starts = read.file.hooks.map((_, index) => lineOf(source.offset(['hooks', index], 'value')))
  const indent = starts.length === 0 ? 2 : indentOf(lines[starts[0] ?? 0] ?? '')
  const isOwnLine = (line: number) =>
    /^ *- /.test(lines[line] ?? '') && indentOf(lines[line] ?? '') === indent
  const isEmptyList = /^hooks:\s*\[\s*\]\s*(#.*)?$/.test(lines[listStart] ?? '')
  const isPlain = starts.length > 0 || isEmptyList
  if (!isPlain || !starts.every(isOwnLine) || new Set(starts).size !== starts.length)
    throw handlerError('config.hook_list', `${path}: hooks cannot be added to this list`)
  const entries = starts.map((start, index) => ({
    id: read.file.hooks[index]?.id ?? '',
    comment: commentStart(lines, start, indent),
    start,
    end: entryEnd(lines, start, indent),
  }))
  return { lines, entries, indent, listStart, isEmptyList }
}

function indentOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0
}

function commentStart(lines: readonly string[], start: number, indent: number): number {
  let line = start
  while (line > 0 && /^ *#/.test(lines[line - 1] ?? '') && indentOf(lines[line - 1] ?? '') === indent) line--
  return line
}

function entryEnd(lines: readonly string[], start: number, indent: number): number {
  let end = start + 1
  for (let line = end; line < lines.length; line++) {
    const isBlank = lines[line]?.trim() === ''
    if (!isBlank && indentOf(lines[line] ?? '') <= indent) break
    if (!isBlank) end = line + 1
  }
  return end
}

function reindent(text: string, indent: number): string[] {
  const lines = text.split('\n')
  const shift = indent - indentOf(lines[0] ?? '')
  return lines.map((line) => {
    if (line.trim() === '') return ''
    return shift >= 0 ? ' '.repeat(shift) + line : line.slice(-shift)
  })
}

/** The range to remove with an entry: also the blank line before it, or after the first entry of a list. */
function withBlankLine(lines: readonly string[], start: number, end: number): readonly [number, number] {
  const isBlank = (line: number) => lines[line]?.trim() === ''
  if (isBlank(start - 1)) return [start - 1, end]
  return isBlank(end) && end < lines.length - 1 ? [start, end + 1] : [start, end]
}

/** A comment that the user may have changed stays, so the one of the new text is left out. */
function withoutComment(lines: readonly string[]): readonly string[] {
  const start = lines.findIndex((line) => /^ *- /.test(line))
  return lines.slice(start)
}

/** A key without entries is no list. */
function closeEmptyList(text: string, path: string): string {
  const source = parseSource(text, path)
  if (source instanceof HookError || source.has(['hooks', 0])) return text
  return text.replace(/^hooks:[ \t]*(?=\r?$)/m, 'hooks: []')
}

/** An edit of text must not change a hook that it is not about. */
function assertOthersUnchanged(
  { before, after, path }: { readonly before: string; readonly after: string; readonly path: string },
  { add, replace, remove }: HookListEdit,
): void {
  const touched = new Set([...add, ...replace].map(({ id }) => id).concat(remove))
  const others = (text: string): readonly HookDefinition[] => {
    const read = readHookText(text, path)
    if (read.kind === 'bad') throw problemsError(read.problems)
    return read.file.hooks.filter(({ id }) => id === undefined || !touched.has(id))
  }
  if (!isDeepStrictEqual(others(before), others(after)))
    throw handlerError('config.hook_list', `${path}: this edit would change other hooks`)
}
