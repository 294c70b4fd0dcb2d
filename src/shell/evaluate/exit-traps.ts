import type { ShellRun } from './shell-run.ts'
import { forkState, joinStates, type ShellOutcome, type ShellState } from './shell-state.ts'

/** Runs a shell of its own: the traps that it sets run when it ends. */
export function withOwnTraps(run: ShellRun, runShell: () => ShellOutcome): ShellOutcome {
  const trapCount = run.exitTraps.length
  const exitCount = run.exits.length
  const outcome = runShell()
  if (run.exitTraps.length === trapCount) return outcome
  runExitTraps(run, trapCount, [...outcome.ok, ...outcome.fail, ...run.exits.slice(exitCount)])
  // What a trap prints follows what the shell printed.
  return { ...outcome, stdout: [...outcome.stdout, { source: '$(trap)' }] }
}

/** Runs the traps from this number on, in every state in which the shell may end. */
export function runExitTraps(run: ShellRun, from: number, states: readonly ShellState[]): void {
  // A trap may set another one.
  for (let round = 0; round < 4 && run.exitTraps.length > from; round++)
    for (const { code, frame } of run.exitTraps.splice(from))
      for (const state of joinStates(states)) run.runCode(code, forkState(state), frame)
}
