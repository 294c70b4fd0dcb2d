import { type Invocation, viaStep } from '../evaluate/shell-run.ts'
import { forkState } from '../evaluate/shell-state.ts'
import { describeField, fieldText, type WordField } from '../expand/shell-text.ts'
import { optionValues, parseOptions, sliceField } from './parse-options.ts'
import { optionsOf, readSpec } from './program-options.ts'
import { childState, joinWords } from './run-wrapper.ts'

/** Settings whose value git runs as a command. */
const commandSettings =
  /^(core\.(pager|editor|sshcommand|fsmonitor|gitproxy|askpass|alternaterefscommand)|sequence\.editor|pager\..+|diff\.external|diff\..+\.(command|textconv)|merge\..+\.driver|filter\..+\.(clean|smudge|process)|gpg\.(.+\.)?program|(difftool|mergetool|browser|man)\..+\.(cmd|path)|sendemail\.(sendmailcmd|smtpserver|tocmd|cccmd)|credential\.(.+\.)?helper|uploadpack\.packobjectshook|interactive\.difffilter|web\.browser|init\.templatedir|core\.hookspath|ssh\.variant|remote\..+\.(uploadpack|receivepack|vcs))$/i

const codeOptions = readSpec(
  'exec=x: upload-pack=u: receive-pack: tree-filter: index-filter: msg-filter: env-filter: commit-filter: parent-filter: tag-name-filter: extcmd: open-files-in-pager=O: to-cmd: smtp-server: onto: strategy=s:',
)

/** Runs the commands that git is told to run: by `-c`, by an alias, by `bisect run` and the like. */
export function runGitCode(invocation: Invocation, subcommand: string | undefined): void {
  const { args } = invocation
  const index = args.findIndex((arg) => describeField(arg) === subcommand)
  const before = index === -1 ? args : args.slice(0, index)
  const after = index === -1 ? [] : args.slice(index + 1)
  const { options } = parseOptions(before, optionsOf('git'))
  for (const setting of optionValues(options, 'c')) runSetting(invocation, setting)
  const { options: inner, operands } = parseOptions(after, codeOptions)
  for (const code of optionValues(
    inner,
    'x',
    'u',
    'receive-pack',
    'extcmd',
    'tree-filter',
    'index-filter',
    'msg-filter',
    'env-filter',
    'commit-filter',
    'parent-filter',
    'tag-name-filter',
    'to-cmd',
  ))
    if (!(subcommand === 'push' && describeField(code) === '')) runGit(invocation, `git ${subcommand}`, code)
  if (subcommand === 'config') runConfig(invocation, operands)
  if (subcommand === 'bisect' && describeField(after[0] ?? []) === 'run')
    invocation.frame.run.runWords(after.slice(1), forkState(invocation.state), {
      ...viaStep(invocation.frame, 'git bisect run'),
      depth: invocation.frame.depth + 1,
    })
  if (subcommand === 'submodule') runForeach(invocation, after)
  for (const field of operands) {
    const text = describeField(field)
    if (text.startsWith('ext::')) runGit(invocation, 'git ext::', sliceField(field, 5))
  }
}

function runForeach(invocation: Invocation, words: readonly WordField[]): void {
  const start = words.findIndex((word) => describeField(word) === 'foreach')
  const code = words.slice(start + 1).filter((word) => !/^--?(recursive|quiet|q)$/.test(describeField(word)))
  if (start === -1 || code.length === 0) return
  const { frame, state } = invocation
  frame.run.runCode(joinWords(code), childState(state), {
    ...viaStep(frame, 'git submodule foreach'),
    depth: frame.depth + 1,
  })
}

function runConfig(invocation: Invocation, operands: readonly WordField[]): void {
  const [key, value] = describeField(operands[0] ?? []) === 'set' ? operands.slice(1) : operands
  if (key && value) runSetting(invocation, [...key, { value: '=', quoted: true }, ...value])
}

/** `key=value` of `-c` or of `git config`. */
function runSetting(invocation: Invocation, setting: WordField): void {
  const text = describeField(setting)
  const equals = text.indexOf('=')
  if (equals === -1) return
  const key = text.slice(0, equals)
  const value = sliceField(setting, equals + 1)
  const written = describeField(value)
  // An alias or helper that starts with an exclamation mark is a command, any other is a part of git.
  if (/^(alias\..+|credential\.(.+\.)?helper)$/i.test(key)) {
    if (written.startsWith('!')) runGit(invocation, `git -c ${key}`, sliceField(value, 1))
    return
  }
  if (commandSettings.test(key) && written !== '' && !/^(true|false)$/.test(written))
    runGit(invocation, `git -c ${key}`, value)
}

function runGit({ frame, state }: Invocation, step: string, code: WordField): void {
  frame.run.runCode(fieldText(code), childState(state), { ...viaStep(frame, step), depth: frame.depth + 1 })
}
