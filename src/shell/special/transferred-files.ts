import { hasOption, optionValues, sliceField } from '../commands/parse-options.ts'
import type { FileCall } from '../commands/program-call.ts'
import { describeField, exactField, fieldCertainty, type WordField } from '../expand/shell-text.ts'
import { copyTargets } from './changed-files.ts'

/** `host:path` */
function isRemote(field: WordField): boolean {
  return /^[^/]*:/.test(describeField(field))
}

export function rsync({ parsed: { options, operands }, add, addTree }: FileCall): void {
  const target = operands.at(-1)
  for (const field of operands.slice(0, -1)) {
    if (isRemote(field)) continue
    addTree('reads', field)
    if (hasOption(options, 'remove-source-files')) add('deletes', field, '/**')
  }
  if (!target || isRemote(target) || operands.length < 2) return
  addTree('writes', target)
  if (options.some(({ name }) => name.startsWith('delete'))) add('deletes', target, '/**')
}

export function scp({ parsed: { operands }, add }: FileCall): void {
  const target = operands.at(-1)
  for (const field of operands.slice(0, -1)) if (!isRemote(field)) add('reads', field)
  if (target && operands.length > 1 && !isRemote(target))
    for (const field of copyTargets(operands.slice(0, -1), target, false)) add('writes', field)
}

/** Copies between this machine and a store: `aws s3 cp a s3://bucket/a`. */
export function cloudCopy({ parsed: { options, operands }, add, addTree }: FileCall): void {
  const action = operands.findIndex((field) =>
    /^(?:cp|mv|sync|copy|copyto|move|moveto|mirror|rsync|put|get)$/.test(describeField(field)),
  )
  if (action === -1) return
  const words = operands.slice(action + 1)
  const name = describeField(operands[action] ?? [])
  const isTree = hasOption(options, 'recursive', 'r') || /^(?:sync|mirror|rsync|copy|move)$/.test(name)
  const isStored = (field: WordField) => /^[\w-]+:/.test(describeField(field)) || describeField(field) === '-'
  const addAll = isTree ? addTree : add
  const isMove = /^(?:mv|move|moveto)$/.test(name)
  for (const field of words.slice(0, -1)) {
    if (isStored(field)) continue
    addAll('reads', field)
    if (isMove) add('deletes', field)
  }
  const target = words.at(-1)
  if (!target || words.length < 2 || isStored(target)) return
  addAll('writes', target)
  if (isTree && hasOption(options, 'delete', 'd')) add('deletes', target, '/**')
}

/** `vercel env pull` writes a file with the variables of the project. */
export function vercelEnv({ parsed: { operands }, add }: FileCall): void {
  const [action, file] = operands
  if (describeField(action ?? []) === 'pull') add('writes', file ?? exactField('.env.local'))
}

export function wget({ parsed: { options, operands }, add }: FileCall): void {
  if (hasOption(options, 'O', 'P', 'spider')) return
  for (const field of operands) {
    const name = /^(?:\w+:\/\/)?[^/?]+\/(?:[^?]*\/)?([^/?]+)/.exec(describeField(field))?.[1]
    add('writes', exactField(name ?? 'index.html'))
  }
}

export function curl({ parsed: { options, operands }, add, invocation }: FileCall): void {
  for (const value of optionValues(options, 'd', 'data-binary', 'data-raw', 'data-urlencode', 'F', 'json')) {
    const at = /^[^@]*=?[@<]/.exec(describeField(value))?.[0]
    if (at !== undefined) add('reads', sliceField(value, at.length))
  }
  for (const field of operands)
    if (/^file:\/\//.test(describeField(field))) add('reads', sliceField(field, 'file://'.length))
  if (hasOption(options, 'K'))
    invocation.frame.run.record.addOpaque('path', 'curl reads its options from a file', invocation.at)
  if (!hasOption(options, 'O', 'remote-name-all')) return
  for (const field of operands) {
    const name = describeField(field).split(/[?#]/)[0]?.split('/').at(-1)
    if (name)
      add(
        'writes',
        fieldCertainty(field) === 'exact' ? exactField(name) : [{ value: { source: name }, quoted: true }],
      )
  }
}
