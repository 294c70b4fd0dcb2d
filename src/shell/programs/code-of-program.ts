import { type Invocation, viaStep } from '../evaluate/shell-run.ts'
import type { ShellText } from '../expand/shell-text.ts'
import { childState } from './run-wrapper.ts'

/** Runs code that a program gets as a text. */
export function runCodeOf({ program, frame, state }: Invocation, code: ShellText): void {
  const { stdin: _used, ...rest } = viaStep(frame, program)
  frame.run.runCode(code, childState(state), { ...rest, depth: frame.depth + 1 })
}
