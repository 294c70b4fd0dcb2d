import { absolutePath, recordFile } from '../evaluate/resolve-path.ts'
import { describeField, fieldCertainty, fieldText, type WordField } from '../expand/shell-text.ts'
import { hasOption, optionValues, type ParsedOptions, sliceField } from './parse-options.ts'
import { type FileCall, type ProgramCall, stated } from './program-call.ts'
import { runCodeOf } from './run-code.ts'

/** Records the files that a program reads, writes and deletes. */
export function recordFiles(call: ProgramCall): void {
  const { program, state, frame, at, levels } = call
  if (!levels.some(({ record: { files, reads, writes, deletes } }) => files ?? reads ?? writes ?? deletes))
    return
  // What the program writes into a folder of its own is known afterwards.
  const inFolder = { ...state, cwd: folderOf(call) }
  const record = recordFile(inFolder, frame)
  const isWrapper = typeof stated(call, 'runs')?.value === 'object'
  const add: FileCall['add'] = (kind, field, below = '') => {
    // `strace -o '|command'`
    if (isWrapper && /^[|!]/.test(describeField(field))) runCodeOf(call, fieldText(sliceField(field, 1)))
    else record(kind, { field, by: program, at, below })
  }
  const addTree: FileCall['addTree'] = (kind, field) => {
    add(kind, field)
    add(kind, field, '/**')
  }
  const files = stated(call, 'files')
  files?.value({ invocation: { ...call, state: inFolder }, parsed: files.level.parsed, add, addTree })
  for (const kind of ['reads', 'writes', 'deletes'] as const) {
    const words = stated(call, kind)
    if (words === undefined || words.value === 'none') continue
    for (const word of words.value)
      for (const field of filesAt(word, kind, words.level.parsed))
        add(kind, field, word.includes('/**') ? '/**' : '')
  }
  state.files = inFolder.files
}

/** The folder in which the program works. Each `-C` of git is relative to the one before. */
export function folderOf(call: ProgramCall): string | undefined {
  const { cwd } = call.state
  const folder = stated(call, 'folder')
  if (folder === undefined) return cwd
  return optionValues(folder.level.parsed.options, folder.value).reduce<string | undefined>(
    (current, field) =>
      fieldCertainty(field) === 'exact' ? absolutePath(describeField(field), current) : undefined,
    cwd,
  )
}

/** The words of a rule that are files. */
function filesAt(
  word: string,
  kind: 'reads' | 'writes' | 'deletes',
  { options, operands }: ParsedOptions,
): readonly WordField[] {
  const [, place = '', condition] = /^(.*?)(?:\/\*\*)?(?: if -+(.*))?$/.exec(word) ?? []
  if (condition !== undefined && !hasOption(options, condition)) return []
  switch (place) {
    case 'all':
      return operands
    case 'first':
      return operands.slice(0, 1)
    case 'last':
      return operands.slice(-1)
    case 'init':
      return operands.slice(0, -1)
    case 'rest':
      // A pattern or filter of grep may come as an option, and then every operand is a file.
      return kind === 'reads' && hasOption(options, 'e', 'f') ? operands : operands.slice(1)
    default:
      return optionValues(options, place)
  }
}
