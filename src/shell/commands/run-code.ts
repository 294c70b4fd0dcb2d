import { type Invocation, insideStep, type ShellFrame } from '../evaluate/shell-run.ts'
import type { ShellState } from '../evaluate/shell-state.ts'
import { fieldText, type ShellText, type WordField } from '../expand/shell-text.ts'

/** The words as one line of code. */
export function joinWords(words: readonly WordField[]): ShellText {
  return words.flatMap((word, index) => (index === 0 ? fieldText(word) : [' ', ...fieldText(word)]))
}

/** The state of a shell that another program starts: it inherits only what is exported. */
export function childState(state: ShellState): ShellState {
  const variables = new Map([...state.variables].filter(([name]) => state.exported.has(name)))
  const functions = new Map([...state.functions].filter(([name]) => state.exported.has(name)))
  // Aliases of git and scripts of npm are in files, and not in the shell.
  const aliases =
    state.aliases.size === 0
      ? state.aliases
      : new Map([...state.aliases].filter(([name]) => name.includes(' ')))
  return { ...state, variables, functions, aliases, positional: [], locals: new Map() }
}

/** Runs code that a program gets as a text. */
export function runCodeOf({ frame, state, program }: Invocation, code: ShellText, step = program): void {
  const { stdin: _used, ...inside }: ShellFrame = insideStep(frame, step)
  frame.run.runCode(code, childState(state), inside)
}

/** Calls with which code of another language runs programs or deletes files. */
const codeCalls =
  /\b(?:system|popen\d?|exec[lv]?p?e?|execSync|execFile(?:Sync)?|spawn(?:Sync)?|shell_exec|passthru|proc_open|rmtree|rm_rf|rm_r|rmSync|unlink(?:Sync)?|removeSync|os\.remove(?:dirs)?)\s*\(|\bsubprocess\.|\bchild_process\b|\bexec\.Command\(|\bCommand::new\(|\bProcessBuilder\b|\bgetRuntime\(|\bdo shell script\b|\bplatform shell\b|\bwrite18\b|\b(?:from|to) program\b/i

/** Whether code of another language runs programs or deletes files. */
export function callsPrograms(code: string): boolean {
  return codeCalls.test(code)
}
