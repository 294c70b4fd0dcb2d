import type { ShellDialect } from '../../engine/core/shell-effects.ts'
import { certainPath, recordFile } from '../evaluate/resolve-path.ts'
import { describeUnreadScript, scriptContent } from '../evaluate/script-content.ts'
import { type Invocation, type ShellFrame, viaStep, withOwnTraps } from '../evaluate/shell-run.ts'
import {
  assignVariable,
  eitherWay,
  joinOutcomes,
  type ShellOutcome,
  type ShellState,
  withFilesOf,
} from '../evaluate/shell-state.ts'
import {
  describeField,
  describeText,
  EMPTY_TEXT,
  exactField,
  fieldText,
  knownText,
  positionalTexts,
  substitutedFile,
  type WordField,
} from '../expand/shell-text.ts'
import { type ProgramCall, stated } from './program-call.ts'
import { childState } from './run-code.ts'

/** Options with which the interpreter runs a module, a check or nothing, so its input is data. */
const dataOptions = /^(-m|--version|-V|--help|-h|-v|--check|-c|test|run|install|add|fmt|lint|x|task|-l)$/

/** Whether the arguments of an interpreter contain code. */
export function runsInlineCode(call: ProgramCall): boolean {
  const code = stated(call, 'inlineCode')?.value
  return code !== undefined && call.args.some((arg) => code.test(describeField(arg)))
}

/** Runs the commands that code of another language contains in plain sight. */
function runCommandsIn(code: string, state: ShellState, frame: ShellFrame): void {
  for (const each of frame.run.commandsInCode(code))
    frame.run.runCode([each], childState(state), { ...frame, depth: frame.depth + 1 })
}

/** The files of `perl -pe code files`. */
function filesAfterCode(args: readonly WordField[], isCode: RegExp): readonly WordField[] {
  const last = args.findLastIndex((arg) => isCode.test(describeField(arg)))
  return args.slice(last + 2).filter((arg) => !describeField(arg).startsWith('-'))
}

/** Code of other languages is opaque. Scripts on disk are programs, unless the line itself writes them. */
export function runOtherLanguage(call: ProgramCall): ShellOutcome | undefined {
  const { program, args, state, frame, at } = call
  const inline = stated(call, 'inlineCode')
  if (inline === undefined) return undefined
  const {
    value: isCode,
    level: { name: language },
  } = inline
  const { record } = frame.run
  const texts = args.map(describeField)
  const operand = args.find((arg) => !describeField(arg).startsWith('-'))
  if (texts.some((text) => isCode.test(text))) {
    record.addOpaque('inline-code', `${program} runs code in ${language}`, at)
    for (const text of texts) runCommandsIn(text, state, viaStep(frame, program))
  } else if (!texts.some((text) => dataOptions.test(text))) {
    const readsInput = operand === undefined || texts.includes('-')
    const content = operand && state.files.get(certainPath(operand, state.cwd) ?? '')
    const isSubstituted = operand && substitutedFile(operand) !== undefined
    if ((readsInput && frame.stdin !== undefined) || content || isSubstituted) {
      record.addOpaque('inline-code', `${program} runs code in ${language} that the line contains`, at)
      runCommandsIn(describeText(content ?? frame.stdin ?? EMPTY_TEXT), state, viaStep(frame, program))
    } else if (operand) recordFile(state, frame)('reads', { field: operand, by: program, at })
  }
  const address = texts.find((text) => !text.startsWith('-') && !/^(run|test|install|add|x)$/.test(text))
  if (/^https?:/.test(address ?? '')) record.addOpaque('code', `${program} runs code from the network`, at)
  const filters = { reads: /^-[a-zA-Z0-9]*[np]/, writes: /^-[a-zA-Z0-9]*i/ }
  for (const kind of ['reads', 'writes'] as const)
    if (/^(?:perl|ruby)$/.test(language) && texts.some((text) => filters[kind].test(text)))
      for (const field of filesAfterCode(args, isCode))
        recordFile(state, frame)(kind, { field, by: program, at })
  return eitherWay(state, [{ source: `$(${program})` }])
}

const optionsWithValue = new Set(['-o', '+o', '-O', '+O'])

/** Reads the arguments of a shell: `-c code name args…`, `script args…`, or neither. It runs its start files before anything else. */
function readShellArguments(args: readonly WordField[]) {
  const startFiles: WordField[] = []
  let hasCode = false
  let readsInput = false
  let index = 0
  for (; index < args.length; index++) {
    const text = describeField(args[index] ?? [])
    if (!/^[-+]\S*$/.test(text) || text === '-' || text === '--') break
    if (text === '--rcfile' || text === '--init-file') startFiles.push(args[++index] ?? [])
    else if (text.startsWith('--')) continue
    else if (optionsWithValue.has(text)) index++
    else {
      hasCode ||= text.startsWith('-') && text.includes('c')
      readsInput ||= text.startsWith('-') && text.includes('s')
      if (/^-\w*[oO]$/.test(text)) index++
    }
  }
  const first = describeField(args[index] ?? [])
  const rest = args.slice(first === '-' || first === '--' ? index + 1 : index)
  const [operand, ...positional] = rest
  const code = hasCode ? operand : undefined
  const script = code || readsInput ? undefined : operand
  const [name] = code ? positional : []
  return {
    startFiles,
    code,
    script,
    name,
    positional: code ? positional.slice(1) : script ? positional : rest,
  }
}

/** The grammars in which a shell may read code: `sh` is dash on some systems and bash on others. */
function dialectsOf(program: string, current: ShellDialect): readonly ShellDialect[] {
  if (program === 'sh') return ['sh', 'bash']
  if (program === 'bash' || program === 'rbash') return ['bash']
  if (program === 'zsh') return ['zsh']
  return program === 'dash' || program === 'ash' ? ['sh'] : [current]
}

/** Code that means the same in every shell. */
const isPortable = /^(?![\s\S]*([{[\\]|\$['"]|&>|[<>]\(|<<<|\bfunction\b|\|&))/

/** Runs `sh -c`, `sh script` or a shell that reads commands from its input. */
export function runShell({ program, args, state, frame, at }: Invocation): ShellOutcome {
  const { code, script, startFiles: named, positional, name } = readShellArguments(args)
  // `sh -n` only checks the syntax.
  if (args.some((arg) => /^-[a-zA-Z]*n[a-zA-Z]*$/.test(describeField(arg))) && !code)
    return eitherWay(state, EMPTY_TEXT)
  const isSession = (!code && !script) || args.some((arg) => /^-\w*[il]|^--login$/.test(describeField(arg)))
  const startFiles = isSession ? [...named, ...writtenStartFiles(state)] : named
  const { stdin, returns: _returns, loops: _loops, skipsFunctions: _skips, ...outside } = frame
  // Without a pipe it reads what the session gives it, which is nothing.
  if (!code && !script && stdin === undefined && startFiles.length === 0) return eitherWay(state, EMPTY_TEXT)
  const own: ShellFrame = {
    ...outside,
    depth: frame.depth + 1,
    ...((code || script) && stdin ? { stdin } : {}),
  }
  const runIn = (dialect: ShellDialect): ShellOutcome => {
    const child: ShellState = { ...childState(state), positional: positionalTexts(positional) }
    if (name) assignVariable(child, '0', fieldText(name))
    const inside: ShellFrame = { ...own, dialect }
    for (const file of startFiles) runScriptFile(file, child, viaStep(inside, `${program} --rcfile`))
    if (code) return frame.run.runCode(fieldText(code), child, viaStep(inside, `${program} -c`))
    if (script) return runScriptFile(script, child, viaStep(inside, `${program} ${describeField(script)}`))
    return frame.run.runCode(stdin ?? EMPTY_TEXT, child, { ...viaStep(inside, `${program} <`), at })
  }
  const known = knownText(code ? fieldText(code) : stdin)
  const all = dialectsOf(program, frame.dialect)
  const dialects = known !== undefined && !script && isPortable.test(known) ? all.slice(0, 1) : all
  const outcomes = dialects.map((dialect) => withOwnTraps(frame.run, () => runIn(dialect)))
  return afterChild(state, outcomes)
}

/** The files that an interactive or login shell runs by itself, as far as the line has written them. */
function writtenStartFiles({ files }: ShellState): readonly WordField[] {
  const isStartFile =
    /\/(\.bashrc|\.bash_(profile|login)|\.profile|\.z(shrc|shenv|profile|login)|\.kshrc|config\.fish)$/
  return [...files.keys()].filter((path) => isStartFile.test(path)).map(exactField)
}

/** A child changes nothing of the shell that starts it, but for files. */
function afterChild(state: ShellState, outcomes: readonly ShellOutcome[]): ShellOutcome {
  const after = outcomes.reduce((current, outcome) => withFilesOf(current, outcome), state)
  return eitherWay(after, joinOutcomes(outcomes, '$(sh)').stdout)
}

/** Runs a script on disk in a state, and records that it is read. */
export function runScriptFile(
  file: WordField,
  state: ShellState,
  frame: ShellFrame,
  by = 'sh',
): ShellOutcome {
  const at = frame.at ?? 0
  if (substitutedFile(file) === undefined) recordFile(state, frame)('reads', { field: file, by, at })
  const content =
    knownText(fieldText(file)) === '/dev/stdin' ? frame.stdin : scriptContent(file, state, frame)
  if (content !== undefined) return frame.run.runCode(content, state, { ...frame, depth: frame.depth + 1 })
  frame.run.record.addOpaque('script', describeUnreadScript(file), at)
  return eitherWay(state, [{ source: describeField(file) }])
}
