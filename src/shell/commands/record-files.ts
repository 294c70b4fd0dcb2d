import { posix } from 'node:path'
import { absolutePath, recordFile } from '../evaluate/resolve-path.ts'
import type { ShellState } from '../evaluate/shell-state.ts'
import {
  describeField,
  exactField,
  fieldCertainty,
  fieldText,
  isList,
  knownText,
  unknownField,
  type WordField,
} from '../expand/shell-text.ts'
import type { Program } from '../programs/program.ts'
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
  const { parsed, record } = folder.level
  const own = optionValues(parsed.options, folder.value).reduce(folderAt, cwd)
  const tree = record.tree && treeOf(call, record.tree, parsed.options)
  if (tree === undefined) return own
  // Inside of its tree, git starts from where it is.
  const root = folderAt(own, tree)
  const isInside = root !== undefined && own !== undefined && `${own}/`.startsWith(posix.join(root, '/'))
  return isInside ? own : root
}

function folderAt(cwd: string | undefined, field: WordField): string | undefined {
  return fieldCertainty(field) === 'exact' ? absolutePath(describeField(field), cwd) : undefined
}

/** The option counts more than the variable. */
function treeOf(
  { state }: ProgramCall,
  { option, variable }: NonNullable<Program['tree']>,
  options: ParsedOptions['options'],
): WordField | undefined {
  return optionValues(options, option).at(-1) ?? exportedField(state, variable)
}

/** The value of a variable that programs see. */
export function exportedField({ variables, exported }: ShellState, name: string): WordField | undefined {
  const value = exported.has(name) ? variables.get(name) : undefined
  if (value === undefined) return undefined
  const text = isList(value) ? undefined : knownText(value)
  return text === undefined ? unknownField(`$${name}`) : exactField(text)
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
