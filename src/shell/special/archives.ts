import { hasOption, optionValues, parseOptions, sliceField } from '../commands/parse-options.ts'
import type { FileCall } from '../commands/program-call.ts'
import { runCodeOf } from '../commands/run-code.ts'
import { describeField, exactField, fieldText, type WordField } from '../expand/shell-text.ts'

export function tar({ invocation, parsed, add, addTree }: FileCall): void {
  const [first] = invocation.args
  const old = first && describeField(first)
  // `tar xzf file`: the old form has no hyphen.
  const isOld = old !== undefined && /^[a-zA-Z]+$/.test(old)
  const { options, operands } = isOld
    ? parseOptions([exactField(`-${old}`), ...invocation.args.slice(1)], invocation.levels[0].spec)
    : parsed
  const archive = optionValues(options, 'f')
  const folder = optionValues(options, 'C').at(-1) ?? exactField('.')
  for (const code of optionValues(options, 'to-command', 'I', 'rsh-command', 'F', 'new-volume-script'))
    runCodeOf(invocation, fieldText(code))
  for (const action of optionValues(options, 'checkpoint-action'))
    if (describeField(action).startsWith('exec=')) runCodeOf(invocation, fieldText(sliceField(action, 5)))
  if (hasOption(options, 'x')) {
    for (const field of archive) add('reads', field)
    if (!hasOption(options, 'O')) addExtracted(folder, operands, add)
  }
  if (hasOption(options, 'c', 'r', 'u')) {
    for (const field of archive) add('writes', field)
    for (const field of operands) {
      addTree('reads', field)
      if (hasOption(options, 'remove-files')) add('deletes', field)
    }
  }
  if (hasOption(options, 't')) for (const field of archive) add('reads', field)
}

export function unzip({ parsed: { options, operands }, add }: FileCall): void {
  const [archive, ...members] = operands
  if (archive) add('reads', archive)
  if (!hasOption(options, 'l', 't', 'p', 'v'))
    addExtracted(optionValues(options, 'd')[0] ?? exactField('.'), members, add)
}

/** An archive may write any file of the folder; the files that the line names are certain. */
function addExtracted(folder: WordField, members: readonly WordField[], add: FileCall['add']): void {
  add('writes', folder, '/**')
  for (const member of members) add('writes', [...folder, { value: '/', quoted: true }, ...member])
}
