import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { findHookFolders, hookFileIn, trustFile } from '../../hook-files/hook-folders.ts'
import { lineDiff } from '../../hook-files/line-diff.ts'
import { findPack, listPacks, type Pack, type PackSwitch } from '../../hook-files/packs/pack.ts'
import { trustStore } from '../../hook-files/trust.ts'
import { command, type ExitCode, exitCodes, type Flags } from '../command.ts'
import { trustHooks } from '../hooks/trust.ts'
import { formatTable, printMessage, printOutput } from '../output.ts'
import { addPack, type HookFileText, hooksIn, type PackEdit, removePack } from './edit-packs.ts'

export const addCommand = command({
  args: {
    list: { type: 'boolean', description: 'list the packs, and which of them the file has' },
    show: { type: 'boolean', description: 'print the pack without adding it' },
    decision: {
      type: 'string',
      description: 'what its hooks answer: ask or block (default: as the pack says)',
    },
    shadow: { type: 'boolean', description: 'record what its hooks would answer, and change nothing' },
    user: { type: 'boolean', description: "write to the user's hook file instead of the repository's" },
    replace: { type: 'boolean', description: 'also replace hooks of the pack that were changed in the file' },
    remove: { type: 'boolean', description: 'remove the pack again' },
    'dry-run': { type: 'boolean', description: 'show the changes without making them' },
  },
  manyWords: true,
  run(args, names) {
    const file = readTarget(args)
    if (args.list) return listPackStates(file, args.json === true)
    if (names.length === 0)
      throw handlerError('config.unknown_pack', 'name a pack', {
        hint: 'List the packs with `hookhelm add --list`.',
      })
    const packs = names.map((name) => findPack(name, readSwitch(args)))
    if (args.show) return showPacks(packs, args.json === true)
    const edits = editFile(file, packs, args)
    return args['dry-run'] ? previewEdits(file, edits, args.json === true) : writeEdits(file, edits, args)
  },
})

/** The file to write to: the user's, or the nearest of the repository, or a new one in this directory. */
function readTarget({ cwd: given, user }: Flags<'cwd', 'user'>): HookFileText {
  const cwd = resolve(given ?? '.')
  const folders = findHookFolders({ cwd }).filter(({ level }) => level === (user ? 'user' : 'repository'))
  const nearest = folders
    .toReversed()
    .find(({ folder }) => existsSync(folder) && hookFileIn(folder) !== undefined)
  const folder = nearest?.folder ?? (user ? (folders[0]?.folder ?? cwd) : join(cwd, '.hookhelm'))
  const path = hookFileIn(folder) ?? join(folder, 'hooks.yaml')
  return { path, text: existsSync(path) ? readFileSync(path, 'utf8') : undefined }
}

function readSwitch({ decision, shadow }: Flags<'decision', 'shadow'>): PackSwitch {
  if (decision === undefined || decision === 'ask' || decision === 'block') return { decision, shadow }
  throw new HookError('config.field', `--decision must be ask or block, not ${decision.slice(0, 40)}`, {
    hint: 'To record only, use --shadow.',
  })
}

function listPackStates(file: HookFileText, json: boolean): ExitCode {
  const present = new Set(hooksIn(file).map(({ id }) => id))
  const rows = listPacks().map(({ name, about, hooks, isRecommended }) => {
    const count = hooks.filter(({ id }) => present.has(id)).length
    return { name, about, hooks: hooks.length, present: count, recommended: isRecommended }
  })
  if (json) printOutput({ file: file.path, packs: rows })
  else
    printOutput(
      formatTable([
        ['pack', 'hooks', 'added', 'what it is about'],
        ...rows.map(({ name, about, hooks, present: count }) => [
          name,
          String(hooks),
          count === 0 ? '-' : count === hooks ? 'yes' : `${count} of ${hooks}`,
          about,
        ]),
      ]),
    )
  return exitCodes.ok
}

function showPacks(packs: readonly Pack[], json: boolean): ExitCode {
  if (json) printOutput({ packs: packs.map(({ name, about, hooks }) => ({ name, about, hooks })) })
  else for (const { text } of packs) printOutput(text.trimEnd())
  return exitCodes.ok
}

/** One edit after the other; the last has the whole text. */
function editFile(
  file: HookFileText,
  packs: readonly Pack[],
  { remove, replace }: { readonly remove?: boolean | undefined; readonly replace?: boolean | undefined },
): readonly PackEdit[] {
  let { text } = file
  return packs.map((pack) => {
    const now = { ...file, text }
    const edit = remove ? removePack(now, pack) : addPack(now, pack, replace === true)
    text = edit.text
    return edit
  })
}

function previewEdits(file: HookFileText, edits: readonly PackEdit[], json: boolean): ExitCode {
  const after = edits.at(-1)?.text ?? ''
  if (json) printOutput(summary(file, edits))
  else if (after !== file.text) printOutput(lineDiff(file.text ?? '', after))
  printMessage(`nothing was written: --dry-run (${file.path})`)
  return exitCodes.ok
}

function writeEdits(
  file: HookFileText,
  edits: readonly PackEdit[],
  { json, user }: Flags<never, 'json' | 'user'>,
): ExitCode {
  const { path, text: before } = file
  const after = edits.at(-1)?.text ?? ''
  const done = summary(file, edits)
  if (json) printOutput(done)
  for (const line of describeEdits(done)) printMessage(line)
  if (done.added.length + done.replaced.length + done.removed.length === 0) return exitCodes.ok
  // Trust covers what the user has read. Text of others in the same file must not come along.
  const isTrusted = user || before === undefined || trustStore(trustFile()).state(path, before) === 'trusted'
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, after, before === undefined ? { flag: 'wx', mode: 0o644 } : {})
  if (!user && isTrusted) trustHooks(path, after, hooksIn({ path, text: after }))
  printMessage(isTrusted ? `written${user ? '' : ' and trusted'}: ${path}` : `written: ${path}\n${UNTRUSTED}`)
  return exitCodes.ok
}

const UNTRUSTED =
  'The file was not trusted before, so its hooks are not in force: review it with `hookhelm trust`.'

interface EditSummary extends Omit<PackEdit, 'text'> {
  readonly file: string
}

function summary({ path }: HookFileText, edits: readonly PackEdit[]): EditSummary {
  return {
    file: path,
    added: edits.flatMap(({ added }) => added),
    replaced: edits.flatMap(({ replaced }) => replaced),
    kept: edits.flatMap(({ kept }) => kept),
    removed: edits.flatMap(({ removed }) => removed),
  }
}

function describeEdits({ added, replaced, kept, removed }: EditSummary): string[] {
  const lines = [
    ...added.map((id) => `added: ${id}`),
    ...replaced.map((id) => `replaced: ${id}`),
    ...removed.map((id) => `removed: ${id}`),
    ...kept.map((id) => `kept, although it differs from the pack: ${id} (--replace takes the pack's)`),
  ]
  return lines.length === 0 ? ['nothing to change'] : lines
}
