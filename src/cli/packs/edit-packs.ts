import { isDeepStrictEqual } from 'node:util'
import { addListItem, removeValue } from '../../connect/edit-json.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { problemsError } from '../../hook-files/file-problem.ts'
import { editHookList, readHookEntries } from '../../hook-files/packs/edit-hook-list.ts'
import { isOfPack, type Pack, type PackHook } from '../../hook-files/packs/pack.ts'
import { readHookText } from '../../hook-files/read/read-hook-file.ts'
import { SCHEMA_URL } from '../../hook-files/schema/json-schema.ts'

/** A hook file with its text; a file that does not exist yet has none. */
export interface HookFileText {
  readonly path: string
  readonly text: string | undefined
}

/** What a command did to the hooks of a pack in a file, by id. */
export interface PackEdit {
  readonly text: string
  readonly added: readonly string[]
  readonly replaced: readonly string[]
  /** Hooks that differ from the pack and stay as they are. */
  readonly kept: readonly string[]
  readonly removed: readonly string[]
}

const emptyFile = `# yaml-language-server: $schema=${SCHEMA_URL}
# Hooks for every agent that works here. Check with: hookhelm validate
version: 1
hooks: []
`

/** The hooks of a file. */
export function hooksIn({ path, text }: HookFileText): readonly HookDefinition[] {
  if (text === undefined) return []
  const read = readHookText(text, path)
  if (read.kind === 'bad') throw problemsError(read.problems)
  return read.file.hooks
}

/** Adds the hooks of a pack that the file does not have. With `replace`, those that differ become as the pack says. */
export function addPack(file: HookFileText, pack: Pack, replace: boolean): PackEdit {
  const present = new Map(hooksIn(file).map((hook) => [hook.id, hook]))
  const isMissing = ({ id }: PackHook) => !present.has(id)
  const isOther = (hook: PackHook) => !isMissing(hook) && !isDeepStrictEqual(present.get(hook.id), hook)
  const others = pack.hooks.filter(isOther)
  const dropped = [...present.keys()].filter(
    (id) => isOfPack(id, pack.name) && !pack.hooks.some((hook) => hook.id === id),
  )
  const edit = {
    added: pack.hooks.filter(isMissing).map(({ id }) => id),
    replaced: replace ? others.map(({ id }) => id) : [],
    kept: replace ? [] : [...others.map(({ id }) => id), ...dropped.flatMap((id) => id ?? [])],
    removed: replace ? dropped.flatMap((id) => id ?? []) : [],
  }
  return { ...edit, text: apply(file, pack, edit) }
}

/** Removes every hook of a pack. */
export function removePack(file: HookFileText, pack: Pack): PackEdit {
  const removed = hooksIn(file).flatMap(({ id }) => (id !== undefined && isOfPack(id, pack.name) ? [id] : []))
  const edit = { added: [], replaced: [], kept: [], removed }
  return { ...edit, text: apply(file, pack, edit) }
}

type Changes = Pick<PackEdit, 'added' | 'replaced' | 'removed'>

function apply({ path, text = emptyFile }: HookFileText, pack: Pack, changes: Changes): string {
  const { added, replaced, removed } = changes
  if (added.length + replaced.length + removed.length === 0) return text
  if (/\.json$/i.test(path)) return editJson({ path, text }, pack, changes)
  const entries = readHookEntries(pack.text, `${pack.name}.yaml`)
  const chosen = (ids: readonly string[]) => entries.filter(({ id }) => ids.includes(id))
  return editHookList(text, path, { add: chosen(added), replace: chosen(replaced), remove: removed })
}

/** JSON has no order that a person chose for reading, so a replaced hook moves to the end. */
function editJson(
  { path, text }: { readonly path: string; readonly text: string },
  pack: Pack,
  changes: Changes,
): string {
  const gone = new Set([...changes.removed, ...changes.replaced])
  const isGone = (value: unknown) =>
    isRecord(value) && !Array.isArray(value) && typeof value.id === 'string' && gone.has(value.id)
  const written = new Set([...changes.added, ...changes.replaced])
  return pack.hooks
    .filter(({ id }) => written.has(id))
    .reduce(
      (now, hook) => addListItem({ text: now, path }, ['hooks'], hook),
      removeValue({ text, path }, ['hooks'], isGone),
    )
}
