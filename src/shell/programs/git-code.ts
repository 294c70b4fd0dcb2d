import { type Invocation, viaStep } from '../evaluate/shell-run.ts'
import { defineAlias, forkState } from '../evaluate/shell-state.ts'
import { describeField, exactField, fieldText, isFieldKnown, type WordField } from '../expand/shell-text.ts'
import { namesScriptFolder, runsSetting } from './git-settings.ts'
import { runScriptFile } from './interpreters.ts'
import { optionValues, parseOptions, sliceField } from './parse-options.ts'
import { optionsOf, readSpec } from './program-options.ts'
import { childState, joinWords } from './run-wrapper.ts'

/** Options of subcommands whose value git runs. */
const codeOptions: Readonly<Record<string, string>> = {
  archive: 'exec:',
  clone: 'upload-pack=u:',
  difftool: 'extcmd=x:',
  fetch: 'upload-pack:',
  'fetch-pack': 'upload-pack: exec:',
  'filter-branch':
    'tree-filter: index-filter: msg-filter: env-filter: commit-filter: parent-filter: tag-name-filter: setup:',
  instaweb: 'httpd=d: browser=b:',
  'ls-remote': 'upload-pack: exec:',
  pull: 'upload-pack:',
  push: 'receive-pack: exec:',
  rebase: 'exec=x:',
  'send-email': 'to-cmd: cc-cmd: sendmail-cmd: smtp-server:',
  'send-pack': 'receive-pack: exec:',
}

/** Runs the commands that git is told to run: by `-c`, by an alias, by `bisect run` and the like. */
export function runGitCode(invocation: Invocation, subcommand: string | undefined): void {
  const { args } = invocation
  const index = args.findIndex((arg) => describeField(arg) === subcommand)
  const before = index === -1 ? args : args.slice(0, index)
  const after = index === -1 ? [] : args.slice(index + 1)
  const { options } = parseOptions(before, optionsOf('git'))
  for (const setting of optionValues(options, 'c')) runSetting(invocation, setting)
  const key = subcommand !== undefined && Object.hasOwn(codeOptions, subcommand) ? subcommand : undefined
  const code = readSpec(codeOptions[key ?? ''] ?? '')
  const own = optionsOf(`git ${subcommand}`)
  const { options: inner, operands } = parseOptions(after, {
    ...own,
    names: new Map([...own.names, ...code.names]),
    values: new Set([...own.values, ...code.values]),
  })
  for (const { name, value } of inner)
    if (value && code.values.has(name) && describeField(value) !== '')
      runGit(invocation, `git ${subcommand}`, value)
  if (subcommand === 'config') runConfig(invocation, operands)
  if (subcommand === 'clone') for (const setting of optionValues(inner, 'c')) runSetting(invocation, setting)
  if (subcommand === 'grep') runPager(invocation, after)
  if (options.some(({ name, value }) => name === 'exec-path' && value))
    invocation.frame.run.record.addOpaque('program', 'git runs its parts from another folder', invocation.at)
  if (subcommand !== undefined) {
    runAlias(invocation, subcommand, after)
    runHooks(invocation, subcommand)
  }
  if (subcommand === 'bisect' && describeField(after[0] ?? []) === 'run')
    invocation.frame.run.runWords(after.slice(1), forkState(invocation.state), {
      ...viaStep(invocation.frame, 'git bisect run'),
      depth: invocation.frame.depth + 1,
    })
  if (subcommand === 'submodule') runForeach(invocation, after)
  for (const field of operands) {
    const text = describeField(field)
    const command = isFieldKnown(field) ? exactField(extCommand(text.slice(5))) : sliceField(field, 5)
    if (text.startsWith('ext::')) runGit(invocation, 'git ext::', command)
  }
}

/** The command of an `ext::` address, in which `% ` is a blank inside of a word. */
function extCommand(text: string): string {
  const words = text.split(/(?<!%) /).map((word) => word.replace(/%(.)/g, '$1'))
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
}

/** The value of `-O` is a part of the same word. */
function runPager(invocation: Invocation, words: readonly WordField[]): void {
  for (const word of words) {
    const start = /^(?:-O|--open-files-in-pager=)(?=.)/.exec(describeField(word))?.[0]
    if (start !== undefined) runGit(invocation, 'git grep -O', sliceField(word, start.length))
  }
}

/** An alias that the line sets, and that this command uses. */
function runAlias({ state, frame }: Invocation, subcommand: string, rest: readonly WordField[]): void {
  if (frame.via.includes(`git ${subcommand}`)) return
  for (const text of state.aliases.get(`git ${subcommand}`) ?? []) {
    const words = text.split(/\s+/).filter((word) => word !== '')
    frame.run.runWords([exactField('git'), ...words.map(exactField), ...rest], forkState(state), {
      ...viaStep(frame, `git ${subcommand}`),
      depth: frame.depth + 1,
    })
  }
}

const commandsWithHooks =
  /^(?:am|checkout|cherry-pick|clone|commit|fetch|gc|merge|pull|push|rebase|receive-pack|revert|switch|worktree)$/

/** Hooks that the line writes. */
function runHooks({ state, frame }: Invocation, subcommand: string): void {
  if (!commandsWithHooks.test(subcommand)) return
  for (const path of state.files.keys())
    if (/\/(?:\.git\/hooks|\.husky|\.githooks)\/[^/]+$/.test(path))
      runScriptFile(exactField(path), childState(state), {
        ...viaStep(frame, `git ${subcommand} hook`),
        depth: frame.depth + 1,
      })
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
    else if (key.startsWith('alias.') && isFieldKnown(value))
      defineAlias(invocation.state, `git ${key.slice('alias.'.length)}`, written)
    return
  }
  if (written === '' || /^(true|false)$/.test(written)) return
  if (namesScriptFolder(key))
    invocation.frame.run.record.addOpaque('script', `git runs the scripts in ${written}`, invocation.at)
  if (runsSetting(key)) runGit(invocation, `git -c ${key}`, value)
}

function runGit({ frame, state }: Invocation, step: string, code: WordField): void {
  frame.run.runCode(fieldText(code), childState(state), { ...viaStep(frame, step), depth: frame.depth + 1 })
}
