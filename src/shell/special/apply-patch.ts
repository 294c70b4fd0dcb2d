import { optionValues } from '../commands/parse-options.ts'
import type { FileCall } from '../commands/program-call.ts'
import { fileText } from '../evaluate/script-content.ts'
import { describeField, exactField, fieldText, knownText } from '../expand/shell-text.ts'

/** Writes the files that a patch names; the patch is read if it is part of the line. */
export function patchFiles({ parsed: { options, operands }, add, invocation }: FileCall): void {
  const { frame, at, state } = invocation
  const [input] = optionValues(options, 'i')
  const source = input ?? operands[1]
  const text = knownText(source ? fileText(source, state) : frame.stdin)
  const strip = Number(describeField(optionValues(options, 'p')[0] ?? exactField('0')))
  for (const field of optionValues(options, 'o', 'r')) add('writes', field)
  if (operands[0]) add('writes', operands[0])
  else if (text === undefined)
    frame.run.record.addOpaque('path', `the files that ${invocation.program} writes are not known`, at)
  else addPatchFiles(text, strip, add)
}

export function applyPatch({ add, invocation }: FileCall): void {
  const { args, frame, at } = invocation
  const [given] = args
  const text = knownText(given ? fieldText(given) : frame.stdin)
  if (text === undefined)
    frame.run.record.addOpaque('path', 'the files that apply_patch writes are not known', at)
  else addPatchFiles(text, 0, add)
}

/** Records the files that a patch in the form of `apply_patch`, or in the unified form, writes and deletes. */
export function addPatchFiles(patch: string, strip: number, add: FileCall['add']): void {
  const writes: string[] = []
  const deletes: string[] = []
  const lines = patch.split('\n')
  for (const [index, line] of lines.entries()) {
    // Blanks around a header do not count, as for the program that applies it.
    const [, verb, path] = /^\s*\*\*\* (Add File|Update File|Delete File|Move to): (.+)$/.exec(line) ?? []
    if (verb !== undefined && path !== undefined) {
      if (verb === 'Delete File') deletes.push(path.trim())
      // A file that moves is gone from where it was.
      else if (verb === 'Move to') deletes.push(...writes.slice(-1))
      if (verb !== 'Delete File') writes.push(path.trim())
      continue
    }
    if (!line.startsWith('--- ') || !lines[index + 1]?.startsWith('+++ ')) continue
    const before = patchPath(line, strip)
    const after = patchPath(lines[index + 1] ?? '', strip)
    if (after === undefined && before !== undefined) deletes.push(before)
    for (const file of [before, after]) if (file !== undefined && after !== undefined) writes.push(file)
  }
  for (const path of new Set(writes)) add('writes', exactField(path))
  for (const path of new Set(deletes)) add('deletes', exactField(path))
}

function patchPath(line: string, strip: number): string | undefined {
  const path = line.slice(4).split('\t')[0]?.trim() ?? ''
  return path === '/dev/null' ? undefined : path.split('/').slice(strip).join('/')
}
