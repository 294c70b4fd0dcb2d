import { basename } from 'node:path/posix'
import { describeField, fieldCertainty, type WordField } from '../expand/shell-text.ts'

/** The target of a copy: the file itself, or a file of the same name in a folder. */
export function copyTargets(
  sources: readonly WordField[],
  target: WordField,
  isFolder: boolean,
): WordField[] {
  const inside = sources.map((source): WordField => {
    const name = `/${basename(describeField(source).replace(/^[^/:]+:/, ''))}`
    const value = fieldCertainty(source) === 'exact' ? name : { source: name, pattern: '/*' }
    return [...target, { value, quoted: true }]
  })
  const isCertainlyFolder = isFolder || sources.length > 1 || /(^|\/)\.{1,2}$/.test(describeField(target))
  return isCertainlyFolder ? inside : [target, ...inside]
}
