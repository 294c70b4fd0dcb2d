import { hasOption, optionValues, sliceField } from '../commands/parse-options.ts'
import type { FileCall, ProgramCall } from '../commands/program-call.ts'
import { exportedField } from '../commands/record-files.ts'
import { childState, joinWords } from '../commands/run-code.ts'
import { commandSettings, folderSettings } from '../evaluate/code-variables.ts'
import { recordFile } from '../evaluate/resolve-path.ts'
import { fileText } from '../evaluate/script-content.ts'
import { type Invocation, insideStep } from '../evaluate/shell-run.ts'
import { defineAlias, forkState } from '../evaluate/shell-state.ts'
import {
  describeField,
  exactField,
  fieldText,
  isFieldKnown,
  knownText,
  type ShellText,
  type WordField,
} from '../expand/shell-text.ts'
import { addPatchFiles } from './apply-patch.ts'

/** Runs the commands that git is told to run: by `-c`, by an alias, by `bisect run` and the like. */
export function runGitCode(call: ProgramCall): void {
  const [{ parsed }, level] = call.levels
  for (const setting of optionValues(parsed.options, 'c')) runSetting(call, setting)
  if (parsed.options.some(({ name, value }) => name === 'exec-path' && value))
    call.frame.run.record.addOpaque('program', 'git runs its parts from another folder', call.at)
  recordRepository(call)
  if (level === undefined) return
  const { args } = level
  const { options, operands } = level.parsed
  const [, subcommand = ''] = level.name.split(' ')
  const [key, setTo] = describeField(operands[0] ?? []) === 'set' ? operands.slice(1) : operands
  if (subcommand === 'config' && key && setTo)
    runSetting(call, [...key, { value: '=', quoted: true }, ...setTo])
  if (subcommand === 'clone') for (const setting of optionValues(options, 'c')) runSetting(call, setting)
  if (subcommand === 'grep') runPager(call, args)
  runAlias(call, subcommand, args)
  if (subcommand === 'bisect' && describeField(args[0] ?? []) === 'run')
    call.frame.run.runWords(args.slice(1), forkState(call.state), insideStep(call.frame, 'git bisect run'))
  if (subcommand === 'submodule') runForeach(call, args)
  for (const field of operands) {
    const text = describeField(field)
    const command = isFieldKnown(field) ? exactField(extCommand(text.slice(5))) : sliceField(field, 5)
    if (text.startsWith('ext::')) runGit(call, 'git ext::', fieldText(command))
  }
}

/** The repository that variables name. One that options name is among the arguments. */
function recordRepository({ state, frame, at }: ProgramCall): void {
  for (const name of ['GIT_DIR', 'GIT_WORK_TREE']) {
    const field = exportedField(state, name)
    if (field !== undefined) recordFile(state, frame)('reads', { field, by: 'git', at })
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
    if (start !== undefined) runGit(invocation, 'git grep -O', fieldText(sliceField(word, start.length)))
  }
}

/** An alias that the line sets, and that this command uses. */
function runAlias({ state, frame }: Invocation, subcommand: string, rest: readonly WordField[]): void {
  if (frame.via.includes(`git ${subcommand}`)) return
  for (const text of state.aliases.get(`git ${subcommand}`) ?? []) {
    const words = text.split(/\s+/).filter((word) => word !== '')
    frame.run.runWords(
      [exactField('git'), ...words.map(exactField), ...rest],
      forkState(state),
      insideStep(frame, `git ${subcommand}`),
    )
  }
}

function runForeach(invocation: Invocation, words: readonly WordField[]): void {
  const start = words.findIndex((word) => describeField(word) === 'foreach')
  const code = words.slice(start + 1).filter((word) => !/^--?(recursive|quiet|q)$/.test(describeField(word)))
  if (start === -1 || code.length === 0) return
  runGit(invocation, 'git submodule foreach', joinWords(code))
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
    if (written.startsWith('!')) runGit(invocation, `git -c ${key}`, fieldText(sliceField(value, 1)))
    else if (key.startsWith('alias.') && isFieldKnown(value))
      defineAlias(invocation.state, `git ${key.slice('alias.'.length)}`, written)
    return
  }
  if (written === '' || /^(true|false)$/.test(written)) return
  if (folderSettings.test(key))
    invocation.frame.run.record.addOpaque('script', `git runs the scripts in ${written}`, invocation.at)
  if (commandSettings.test(key)) runGit(invocation, `git -c ${key}`, fieldText(value))
}

function runGit({ frame, state }: Invocation, step: string, code: ShellText): void {
  frame.run.runCode(code, childState(state), insideStep(frame, step))
}

export function gitApply({ parsed: { options, operands }, add, invocation }: FileCall): void {
  if (hasOption(options, 'check', 'stat', 'numstat', 'summary')) return
  const [file] = operands
  const text = knownText(file ? fileText(file, invocation.state) : invocation.frame.stdin)
  if (text === undefined) add('writes', exactField('.'), '/**')
  else addPatchFiles(text, 1, add)
}

export function gitCheckout({ parsed, add, addTree, invocation }: FileCall): void {
  const dashes = invocation.args.findIndex((arg) => describeField(arg) === '--')
  const paths =
    dashes === -1
      ? parsed.operands.filter(
          (field, index) => index > 0 || /^\.{1,2}(\/|$)|\.\w+$/.test(describeField(field)),
        )
      : invocation.args.slice(dashes + 1)
  if (hasOption(parsed.options, 'b', 'B', 'orphan')) return
  for (const field of paths) addTree('writes', field)
  if (hasOption(parsed.options, 'f')) add('writes', exactField('.'), '/**')
}

export function gitClean({ parsed: { options, operands }, add }: FileCall): void {
  if (hasOption(options, 'n')) return
  for (const field of operands.length === 0 ? [exactField('.')] : operands) add('deletes', field, '/**')
}

export function gitReset({ parsed: { options }, add }: FileCall): void {
  if (hasOption(options, 'hard', 'merge', 'keep')) add('writes', exactField('.'), '/**')
}

/** What git shows of files: those after `--`, and names that are no revisions. */
export function gitShow({ parsed: { options, operands }, add, invocation }: FileCall): void {
  const dashes = invocation.args.findIndex((arg) => describeField(arg) === '--')
  const paths = dashes === -1 ? [] : invocation.args.slice(dashes + 1)
  for (const field of hasOption(options, 'no-index') ? operands : paths) add('reads', field)
  for (const field of operands) if (/^\.[\w/.]/.test(describeField(field))) add('reads', field)
}
