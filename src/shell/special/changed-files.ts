import { basename, dirname } from 'node:path/posix'
import { hasOption, optionValues, sliceField } from '../commands/parse-options.ts'
import type { FileCall } from '../commands/program-call.ts'
import { certainPath } from '../evaluate/resolve-path.ts'
import { fileText } from '../evaluate/script-content.ts'
import type { Invocation } from '../evaluate/shell-run.ts'
import { writeFileContent } from '../evaluate/shell-state.ts'
import {
  describeField,
  exactField,
  fieldCertainty,
  unknownText,
  type WordField,
} from '../expand/shell-text.ts'

/** A search through folders: `grep -r KEY .`, or only through some files: `grep -r --include=.env KEY .` */
export function searchFolders({ parsed: { options, operands }, add, invocation }: FileCall): void {
  // Others leave hidden files out, unless an option says otherwise.
  const isWhole = /^(?:rg|ag)$/.test(invocation.program)
    ? hasOption(options, 'hidden') || options.filter(({ name }) => name === 'u').length > 1
    : hasOption(options, 'r')
  if (!isWhole) return
  const folders = hasOption(options, 'e', 'f') ? operands : operands.slice(1)
  const names = optionValues(options, 'include').map((pattern) => `/**/${describeField(pattern)}`)
  for (const name of names.length === 0 ? ['/**'] : names)
    for (const folder of folders.length === 0 ? [exactField('.')] : folders) add('reads', folder, name)
}

/** `docker build --secret id=name,src=file` */
export function buildSecrets({ parsed: { options }, add }: FileCall): void {
  for (const secret of optionValues(options, 'secret')) {
    const file = /(?:^|,)(?:src|source)=([^,]+)/.exec(describeField(secret))?.[1]
    if (file !== undefined) add('reads', exactField(file))
  }
}

export function copy(call: FileCall): void {
  const { parsed, add, addTree, invocation } = call
  const { options, operands } = parsed
  const [folder] = optionValues(options, 't')
  const sources = folder ? operands : operands.slice(0, -1)
  const target = folder ?? operands.at(-1)
  if (!target || (sources.length === 0 && invocation.program !== 'ln')) return
  const isMove = invocation.program === 'mv'
  const addAll = isMove || hasOption(options, 'r', 'R', 'a') ? addTree : add
  for (const source of sources) {
    addAll('reads', source)
    if (isMove) addTree('deletes', source)
  }
  for (const field of copyTargets(sources, target, folder !== undefined)) addAll('writes', field)
  keepCopied(sources, target, invocation)
  const makesLinks =
    /^g?(?:ln|link)$/.test(invocation.program) ||
    (/^g?cp$/.test(invocation.program) && hasOption(options, 'l', 's'))
  if (makesLinks) keepLinks(call, sources, target, folder !== undefined)
}

/** `mount --bind` shows a folder in a second place. */
export function mount(call: FileCall): void {
  const { options, operands } = call.parsed
  const [source, target] = operands
  if (!source || !target || !hasOption(options, 'B', 'bind', 'R', 'rbind')) return
  call.add('writes', target)
  keepLinks(call, [source], target, false)
}

const MAX_LINKS = 100

/** What the line writes to a link that it has made, it writes to where the link leads. */
function keepLinks(
  { parsed: { options }, invocation: { state, frame } }: FileCall,
  sources: readonly WordField[],
  target: WordField,
  isFolder: boolean,
): void {
  const isRelativeToLink = hasOption(options, 's') && !hasOption(options, 'r')
  // `ln source` makes a link of the same name here.
  const all = sources.length === 0 ? [target] : sources
  for (const source of all) {
    const places =
      sources.length === 0
        ? [exactField(basename(describeField(target)))]
        : copyTargets([source], target, isFolder)
    for (const place of places) {
      const link = certainPath(place, state.cwd)
      if (link === undefined || frame.run.links.size >= MAX_LINKS) continue
      frame.run.links.set(link, certainPath(source, isRelativeToLink ? dirname(link) : state.cwd))
    }
  }
}

/** A copy of a file that the line wrote has the same content. */
function keepCopied([source]: readonly WordField[], target: WordField, { state }: Invocation): void {
  const from = source && certainPath(source, state.cwd)
  const to = certainPath(target, state.cwd)
  const content = from === undefined ? undefined : source && fileText(source, state)
  if (content && to !== undefined) writeFileContent(state, to, content)
}

export function install(call: FileCall): void {
  if (hasOption(call.parsed.options, 'd')) for (const field of call.parsed.operands) call.add('writes', field)
  else copy(call)
}

export function remove({ parsed: { options, operands }, add, addTree }: FileCall): void {
  for (const field of operands) (hasOption(options, 'r') ? addTree : add)('deletes', field)
}

/** The name is new: every X of the template becomes another character. */
export function makeTemporary({ parsed: { options, operands }, add }: FileCall): void {
  if (hasOption(options, 'u')) return
  const template = operands[0] ? describeField(operands[0]) : '/tmp/tmp.XXXXXXXXXX'
  const [folder] = optionValues(options, 'p', 'tmpdir')
  const pattern = template.replace(/X{3,}/g, '*')
  const path = folder
    ? `${describeField(folder)}/${pattern}`
    : hasOption(options, 't')
      ? `/tmp/${pattern}`
      : pattern
  add('writes', [{ value: path, quoted: false }])
}

/** Replaces each file by its compressed form, or back. */
export function compress({ parsed: { options, operands }, add, invocation }: FileCall): void {
  const extension = /xz/.test(invocation.program) ? '.xz' : /bz/.test(invocation.program) ? '.bz2' : '.gz'
  for (const field of operands) {
    add('reads', field)
    if (hasOption(options, 'c', 'stdout', 'to-stdout', 'l', 't')) continue
    if (!hasOption(options, 'k', 'keep')) add('deletes', field)
    const name = describeField(field)
    add('writes', [...field, { value: extension, quoted: true }])
    if (fieldCertainty(field) === 'exact' && /\.\w+$/.test(name))
      add('writes', exactField(name.replace(/\.\w+$/, '')))
  }
}

/** The pieces are named after a prefix. */
export function split({ parsed: { operands }, add }: FileCall): void {
  if (operands[0]) add('reads', operands[0])
  add('writes', [...(operands[1] ?? exactField('x')), { value: '*', quoted: false }])
}

/** `mkdir -p` also makes the folders on the way. */
export function makeFolders({ parsed: { options, operands }, add }: FileCall): void {
  for (const field of operands) {
    add('writes', field)
    if (!hasOption(options, 'p') || fieldCertainty(field) !== 'exact') continue
    const parts = describeField(field).split('/')
    for (let length = 1; length < parts.length; length++)
      add('writes', exactField(parts.slice(0, length).join('/')))
  }
}

export function changeDisk({ invocation, add }: FileCall): void {
  for (const arg of invocation.args) {
    const text = describeField(arg)
    if (text.startsWith('of=')) add('writes', sliceField(arg, 3))
    if (text.startsWith('if=')) add('reads', sliceField(arg, 3))
  }
}

export function trashFiles({ parsed: { operands }, add }: FileCall): void {
  const [action, ...files] = operands
  if (/^(?:trash|remove)$/.test(describeField(action ?? []))) for (const field of files) add('deletes', field)
  else for (const field of files) add('reads', field)
}

/** The new names follow from an expression. */
export function rename({ parsed: { operands }, add, invocation }: FileCall): void {
  for (const field of operands.slice(1)) add('deletes', field)
  invocation.frame.run.record.addOpaque('path', 'the names that rename gives are not known', invocation.at)
}

/** What `tee` writes is what it reads. */
export function keepContent({
  parsed: { options, operands },
  add,
  invocation: { state, frame },
}: FileCall): void {
  for (const field of operands) {
    const path = certainPath(field, state.cwd) ?? ''
    const before = hasOption(options, 'a') ? (state.files.get(path) ?? unknownText('>>')) : []
    add('writes', field)
    if (path !== '' && frame.stdin) writeFileContent(state, path, [...before, ...frame.stdin])
  }
}

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
