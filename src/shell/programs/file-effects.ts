import { basename, dirname } from 'node:path/posix'
import { absolutePath, certainPath, recordFile } from '../evaluate/resolve-path.ts'
import { describeUnreadScript, fileText, scriptContent } from '../evaluate/script-content.ts'
import { type Invocation, viaStep } from '../evaluate/shell-run.ts'
import { writeFileContent } from '../evaluate/shell-state.ts'
import {
  describeField,
  exactField,
  fieldCertainty,
  fieldText,
  knownText,
  unknownText,
  type WordField,
} from '../expand/shell-text.ts'
import { addPatchFiles } from './apply-patch.ts'
import { readAwkProgram } from './awk-program.ts'
import { copyTargets } from './copy-targets.ts'
import type { FileCall } from './file-call.ts'
import { type FileRule, fileRulesOf, hasFileRules } from './file-table.ts'
import { gitApply, gitCheckout, gitClean, gitReset, gitShow } from './git-files.ts'
import { hasOption, optionValues, type ParsedOptions, parseOptions, sliceField } from './parse-options.ts'
import { optionsOf } from './program-options.ts'
import { runCodeOf } from './run-wrapper.ts'
import { readSedScript } from './sed-script.ts'
import { cloudCopy, curl, rsync, scp, vercelEnv, wget } from './transferred-files.ts'

/** Records the files that a program reads, writes and deletes. */
export function recordFileEffects(invocation: Invocation, subcommand: string | undefined): void {
  const { program, args, state, frame, at } = invocation
  const key = subcommand === undefined ? program : `${program} ${subcommand}`
  const rest = subcommand === undefined ? args : afterSubcommand(args, subcommand)
  const parsed = parseOptions(rest, optionsOf(key))
  // The files of `git -C folder` are those of that folder, and what it writes is known afterwards.
  const inFolder = { ...state, cwd: folderOf(invocation, subcommand) }
  const record = recordFile(inFolder, frame)
  const add: FileCall['add'] = (kind, field, below = '') => record(kind, { field, by: program, at, below })
  const special = Object.hasOwn(specialPrograms, key) ? specialPrograms[key] : undefined
  if (special) special({ invocation: { ...invocation, state: inFolder }, parsed, add })
  for (const rule of fileRulesOf(key)) applyRule(rule, parsed, add)
  state.files = inFolder.files
  if (program === 'tee') keepContent(invocation, parsed)
}

/** The folder in which the program works. Each `-C` of git is relative to the one before. */
function folderOf({ program, args, state: { cwd } }: Invocation, subcommand?: string): string | undefined {
  if (program !== 'git' || subcommand === undefined) return cwd
  const before = args.slice(
    0,
    args.findIndex((arg) => describeField(arg) === subcommand),
  )
  return optionValues(parseOptions(before, optionsOf('git')).options, 'C').reduce<string | undefined>(
    (folder, field) =>
      fieldCertainty(field) === 'exact' ? absolutePath(describeField(field), folder) : undefined,
    cwd,
  )
}

/** Whether the tables say which files a program uses. */
export function hasFileEffects(program: string): boolean {
  return Object.hasOwn(specialPrograms, program) || hasFileRules(program)
}

function afterSubcommand(args: readonly WordField[], subcommand: string): readonly WordField[] {
  return args.slice(args.findIndex((arg) => describeField(arg) === subcommand) + 1)
}

function applyRule(
  { kind, place, below, condition }: FileRule,
  { options, operands }: ParsedOptions,
  add: FileCall['add'],
): void {
  if (condition !== undefined && !hasOption(options, condition)) return
  // A pattern or filter of grep may come as an option, and then every operand is a file.
  const places: Readonly<Record<string, readonly WordField[]>> = {
    all: operands,
    first: operands.slice(0, 1),
    last: operands.slice(-1),
    rest: hasOption(options, 'e', 'f') && kind === 'reads' ? operands : operands.slice(1),
    init: operands.slice(0, -1),
  }
  const files = places[place] ?? optionValues(options, place.replace(/^-+/, ''))
  for (const field of files) add(kind, field, below)
}

/** What `tee` writes is what it reads. */
function keepContent({ state, frame }: Invocation, { options, operands }: ParsedOptions): void {
  for (const field of operands) {
    const path = certainPath(field, state.cwd)
    if (path !== undefined && frame.stdin)
      writeFileContent(state, path, hasOption(options, 'a') ? unknownText(path) : frame.stdin)
  }
}

/** A search through a folder that names the files: `grep -r --include=.env KEY .` */
function search({ parsed: { options, operands }, add }: FileCall): void {
  if (!hasOption(options, 'r')) return
  const folders = hasOption(options, 'e', 'f') ? operands : operands.slice(1)
  for (const pattern of optionValues(options, 'include'))
    for (const folder of folders.length === 0 ? [exactField('.')] : folders)
      add('reads', folder, `/**/${describeField(pattern)}`)
}

function copy({ parsed, add, invocation }: FileCall): void {
  const { options, operands } = parsed
  const [folder] = optionValues(options, 't')
  const sources = folder ? operands : operands.slice(0, -1)
  const target = folder ?? operands.at(-1)
  if (!target || (sources.length === 0 && invocation.program !== 'ln')) return
  const isMove = invocation.program === 'mv'
  const isRecursive = isMove || hasOption(options, 'r', 'R', 'a')
  for (const source of sources) {
    add('reads', source)
    if (isRecursive) add('reads', source, '/**')
    if (isMove) add('deletes', source)
    if (isMove) add('deletes', source, '/**')
  }
  for (const field of copyTargets(sources, target, folder !== undefined)) {
    add('writes', field)
    if (isRecursive) add('writes', field, '/**')
  }
  keepCopied(sources, target, invocation)
  const makesLinks =
    /^g?(?:ln|link)$/.test(invocation.program) ||
    (/^g?cp$/.test(invocation.program) && hasOption(options, 'l', 's'))
  if (makesLinks) keepLinks({ sources, target, folder }, parsed, invocation)
}

/** `mount --bind` shows a folder in a second place. */
function mount({ parsed, add, invocation }: FileCall): void {
  const [source, target] = parsed.operands
  if (!source || !target || !hasOption(parsed.options, 'B', 'bind', 'R', 'rbind')) return
  add('writes', target)
  keepLinks({ sources: [source], target, folder: undefined }, parsed, invocation)
}

interface MadeLinks {
  readonly sources: readonly WordField[]
  readonly target: WordField
  readonly folder: WordField | undefined
}

const MAX_LINKS = 100

/** What the line writes to a link that it has made, it writes to where the link leads. */
function keepLinks(
  { sources, target, folder }: MadeLinks,
  { options }: ParsedOptions,
  call: Invocation,
): void {
  const { state, frame } = call
  const isRelativeToLink = hasOption(options, 's') && !hasOption(options, 'r')
  // `ln source` makes a link of the same name here.
  const all = sources.length === 0 ? [target] : sources
  for (const source of all) {
    const places =
      sources.length === 0
        ? [exactField(basename(describeField(target)))]
        : copyTargets([source], target, folder !== undefined)
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

function install(call: FileCall): void {
  if (hasOption(call.parsed.options, 'd')) for (const field of call.parsed.operands) call.add('writes', field)
  else copy(call)
}

function remove({ parsed: { options, operands }, add }: FileCall): void {
  for (const field of operands) {
    add('deletes', field)
    if (hasOption(options, 'r')) add('deletes', field, '/**')
  }
}

/** The name is new: every X of the template becomes another character. */
function mktemp({ parsed: { options, operands }, add }: FileCall): void {
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
function compress({ parsed: { options, operands }, add, invocation }: FileCall): void {
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
function split({ parsed: { operands }, add }: FileCall): void {
  if (operands[0]) add('reads', operands[0])
  add('writes', [...(operands[1] ?? exactField('x')), { value: '*', quoted: false }])
}

/** `mkdir -p` also makes the folders on the way. */
function mkdir({ parsed: { options, operands }, add }: FileCall): void {
  for (const field of operands) {
    add('writes', field)
    if (!hasOption(options, 'p') || fieldCertainty(field) !== 'exact') continue
    const parts = describeField(field).split('/')
    for (let length = 1; length < parts.length; length++)
      add('writes', exactField(parts.slice(0, length).join('/')))
  }
}

function dd({ invocation, add }: FileCall): void {
  for (const arg of invocation.args) {
    const text = describeField(arg)
    if (text.startsWith('of=')) add('writes', sliceField(arg, 3))
    if (text.startsWith('if=')) add('reads', sliceField(arg, 3))
  }
}

function sed({ parsed: { options, operands }, add, invocation }: FileCall): void {
  const scripts = optionValues(options, 'e')
  const hasScript = scripts.length > 0 || hasOption(options, 'f')
  const all = hasScript ? scripts : operands.slice(0, 1)
  for (const file of optionValues(options, 'f')) {
    add('reads', file)
    const content = knownText(scriptContent(file, invocation.state, invocation.frame))
    if (content === undefined)
      invocation.frame.run.record.addOpaque('script', describeUnreadScript(file), invocation.at)
    else all.push(exactField(content))
  }
  for (const field of all) {
    const text = knownText(fieldText(field))
    const { writes, reads, runsCode, commands } = readSedScript(text ?? describeField(field))
    for (const code of commands) runCodeOf(invocation, [code])
    for (const path of writes) add('writes', exactField(path))
    for (const path of reads) add('reads', exactField(path))
    if (runsCode || isUnknownScript(field))
      invocation.frame.run.record.addOpaque(
        'inline-code',
        'the script of sed may run commands',
        invocation.at,
      )
  }
  for (const field of hasScript ? operands : operands.slice(1)) {
    add('reads', field)
    if (hasOption(options, 'i')) add('writes', field)
  }
}

/** A script that is nothing but a value which is not known. With known text around it, it counts as text. */
function isUnknownScript(field: WordField | undefined): boolean {
  return field?.length === 1 && typeof field[0]?.value === 'object'
}

function awk({ invocation, parsed: { options, operands }, add }: FileCall): void {
  const { program, frame, at, state } = invocation
  const hasFile = hasOption(options, 'f', 'e', 'l')
  const [script] = hasFile ? [] : operands
  const { commands, writes, isCertain } = readAwkProgram(script ? describeField(script) : '')
  for (const each of commands)
    frame.run.runCode([each], { ...state }, { ...viaStep(frame, program), depth: frame.depth + 1 })
  for (const path of writes) add('writes', exactField(path))
  if (!isCertain || isUnknownScript(script) || hasFile)
    frame.run.record.addOpaque('inline-code', `the program of ${program} may run commands or write files`, at)
  const isInPlace = optionValues(options, 'i').some((value) => describeField(value) === 'inplace')
  for (const field of hasFile ? operands : operands.slice(1)) {
    if (/^\w+=/.test(describeField(field))) continue
    add('reads', field)
    if (isInPlace) add('writes', field)
  }
}

function tar({ invocation, parsed, add }: FileCall): void {
  const [first] = invocation.args
  const old = first && describeField(first)
  // `tar xzf file`: the old form has no hyphen.
  const isOld = old !== undefined && /^[a-zA-Z]+$/.test(old)
  const { options, operands } = isOld
    ? parseOptions([exactField(`-${old}`), ...invocation.args.slice(1)], optionsOf('tar'))
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
      add('reads', field)
      add('reads', field, '/**')
      if (hasOption(options, 'remove-files')) add('deletes', field)
    }
  }
  if (hasOption(options, 't')) for (const field of archive) add('reads', field)
}

function unzip({ parsed: { options, operands }, add }: FileCall): void {
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

/** Writes the files that a patch names; the patch is read if it is part of the line. */
function patch({ parsed: { options, operands }, add, invocation }: FileCall): void {
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

function applyPatch({ add, invocation }: FileCall): void {
  const { args, frame, at } = invocation
  const [given] = args
  const text = knownText(given ? fieldText(given) : frame.stdin)
  if (text === undefined)
    frame.run.record.addOpaque('path', 'the files that apply_patch writes are not known', at)
  else addPatchFiles(text, 0, add)
}

function gio({ parsed: { operands }, add }: FileCall): void {
  const [action, ...files] = operands
  if (/^(?:trash|remove)$/.test(describeField(action ?? []))) for (const field of files) add('deletes', field)
  else for (const field of files) add('reads', field)
}

/** The new names follow from an expression. */
function rename({ parsed: { operands }, add, invocation }: FileCall): void {
  for (const field of operands.slice(1)) add('deletes', field)
  invocation.frame.run.record.addOpaque('path', 'the names that rename gives are not known', invocation.at)
}

const specialPrograms: Readonly<Record<string, (call: FileCall) => void>> = {
  cp: copy,
  mv: copy,
  ln: copy,
  gcp: copy,
  gmv: copy,
  link: copy,
  mount,
  install,
  rm: remove,
  grm: remove,
  gzip: compress,
  gunzip: compress,
  bzip2: compress,
  bunzip2: compress,
  xz: compress,
  unxz: compress,
  split,
  mkdir,
  dd,
  mktemp,
  sed,
  gsed: sed,
  awk,
  gawk: awk,
  grep: search,
  egrep: search,
  fgrep: search,
  mawk: awk,
  nawk: awk,
  tar,
  bsdtar: tar,
  gtar: tar,
  unzip,
  rsync,
  scp,
  'docker cp': scp,
  'podman cp': scp,
  'kubectl cp': scp,
  patch,
  apply_patch: applyPatch,
  applypatch: applyPatch,
  'git apply': gitApply,
  'git am': gitApply,
  'git checkout': gitCheckout,
  'git clean': gitClean,
  'git reset': gitReset,
  'git diff': gitShow,
  'git log': gitShow,
  'git show': gitShow,
  'git grep': gitShow,
  'aws s3': cloudCopy,
  'gcloud storage': cloudCopy,
  gsutil: cloudCopy,
  rclone: cloudCopy,
  s3cmd: cloudCopy,
  s5cmd: cloudCopy,
  mc: cloudCopy,
  azcopy: cloudCopy,
  gio,
  rename,
  prename: rename,
  sftp: scp,
  'vercel env': vercelEnv,
  wget,
  curl,
}
