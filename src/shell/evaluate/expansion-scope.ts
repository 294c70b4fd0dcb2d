import type { ExpansionScope } from '../expand/expand-parameter.ts'
import { expandWithoutSplitting } from '../expand/expand-word.ts'
import { EMPTY_TEXT, unknownText } from '../expand/shell-text.ts'
import type { ShellFrame, ShellRun } from './shell-run.ts'
import { withOwnTraps } from './shell-run.ts'
import {
  assignVariable,
  forkState,
  SESSION_ARGUMENTS,
  type ShellState,
  withFilesOf,
  writeFileContent,
} from './shell-state.ts'

let processCount = 0

/** Connects expansion to the state of the shell. */
export function expansionScope(state: ShellState, frame: ShellFrame): ExpansionScope {
  const { run } = frame
  const inner = (step: string): ShellFrame => ({
    ...frame,
    isPiped: false,
    via: [...frame.via, step],
    depth: frame.depth + 1,
  })
  return {
    dialect: frame.dialect,
    home: run.context.home,
    positional: state.positional,
    hasSessionArguments: state.positional === SESSION_ARGUMENTS,
    lookUp: (name) => state.variables.get(name) ?? sessionVariable(name, run, state),
    assign: (name, value) => assignVariable(state, name, value),
    expandText: expandWithoutSplitting,
    runSubstitution(script) {
      const outcome = withOwnTraps(run, () => run.runScript(script, [forkState(state)], inner('$()')))
      state.files = withFilesOf(state, outcome).files
      return outcome.stdout
    },
    runPrompt(text) {
      if (/\$|`/.test(text)) run.runCode([`: "${text}"`], forkState(state), inner('@P'))
    },
    runProcess(script, output) {
      const given = output ? { ...inner('>()'), stdin: unknownText('>(…)') } : inner('<()')
      const { stdout } = withOwnTraps(run, () => run.runScript(script, [forkState(state)], given))
      processCount = (processCount + 1) % 1_000
      const path = `/dev/fd/process-${processCount}`
      writeFileContent(state, path, output ? EMPTY_TEXT : stdout)
      return path
    },
  }
}

/** Variables that the session sets. The caller's `env` is certain; every other variable is unknown. */
function sessionVariable(name: string, { context }: ShellRun, state: ShellState) {
  const { env = {}, home } = context
  if (name === 'PWD' && state.cwd?.startsWith('/')) return [state.cwd]
  if (name === 'IFS') return [' \t\n']
  if (Object.hasOwn(env, name)) return [env[name] ?? '']
  return name === 'HOME' && home !== undefined ? [home] : undefined
}
