import type { ShellContext, ShellDialect } from '../../engine/core/shell-effects.ts'
import type { ShellText, WordField } from '../expand/shell-text.ts'
import type { Script } from '../parse/shell-syntax.ts'
import type { EffectRecorder } from './effect-recorder.ts'
import { forkState, joinStates, type ShellOutcome, type ShellState } from './shell-state.ts'

/** Where a command runs. */
export interface ShellFrame {
  readonly run: ShellRun
  readonly dialect: ShellDialect
  /** What comes through a pipe, a heredoc or a file. Absent if the command reads what the session gives it. */
  readonly stdin?: ShellText
  /** The input is given to this very command, by a pipe or a redirection, and not to a command around it. */
  readonly hasOwnInput?: boolean
  readonly via: readonly string[]
  readonly remote?: string
  /** The folders and files of this machine that a container sees. */
  readonly mounts?: readonly Mount[]
  /** The offset to report, for code inside of an argument. */
  readonly at?: number
  readonly depth: number
  /** Collects the states in which the running function returns. */
  readonly returns?: ShellState[]
  /** Collects, for each loop around the command, the states in which it is left or continued. */
  readonly loops?: readonly ShellState[][]
  /** Set by `command`: functions do not count. */
  readonly skipsFunctions?: true
  /** The aliases that the text of this depth replaces: a shell does not replace them again in it. */
  readonly replaced?: { readonly names: readonly string[]; readonly depth: number }
  /** The output goes into a pipe of zsh, whatever else the command redirects it to. */
  readonly isPiped?: boolean
}

export interface Mount {
  /** The path on this machine. */
  readonly outside: string
  /** The path in the container. */
  readonly inside: string
}

/** One analysis. Its functions call one another, so the parts that need them receive this object. */
export interface ShellRun {
  readonly context: ShellContext
  readonly record: EffectRecorder
  /** The links that the line itself makes, with where they lead; undefined if that is not known. */
  readonly links: Map<string, string | undefined>
  /** The states in which the line calls `exit`. */
  readonly exits: ShellState[]
  /** Code to run when the shell ends. */
  readonly exitTraps: { readonly code: ShellText; readonly frame: ShellFrame }[]
  readonly runScript: (script: Script, states: readonly ShellState[], frame: ShellFrame) => ShellOutcome
  /** Parses code and runs it. */
  readonly runCode: (code: ShellText, state: ShellState, frame: ShellFrame) => ShellOutcome
  /** Runs a command that is already split into arguments. */
  readonly runWords: (words: readonly WordField[], state: ShellState, frame: ShellFrame) => ShellOutcome
  /** The commands that code of another language contains in plain sight. */
  readonly commandsInCode: (code: string) => readonly string[]
}

/** One command with everything that decides what it does. */
export interface Invocation {
  /** The name of the program without its folder. */
  readonly program: string
  /** The program as written. */
  readonly written: string
  readonly args: readonly WordField[]
  readonly state: ShellState
  readonly frame: ShellFrame
  readonly at: number
}

/** Adds a step to the way to a command. */
export function viaStep(frame: ShellFrame, step: string): ShellFrame {
  return { ...frame, via: [...frame.via, step] }
}

/** The frame of code or of a command that a command runs. */
export function insideStep(frame: ShellFrame, step: string): ShellFrame {
  return { ...viaStep(frame, step), depth: frame.depth + 1 }
}

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
