import { type ChildProcess, spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where one run takes place: everything in it belongs to the run alone. */
export interface Stage {
  readonly home: string
  readonly project: string
  /** Of the fake model. */
  readonly url: string
  /** Where the packages of this agent are installed. */
  readonly cli: string
}

export interface Ran {
  readonly code: number | null
  readonly output: string
  readonly ms: number
  readonly timedOut: boolean
}

/** How one coding agent is installed and run against a fake model, offline. */
export interface Recipe {
  readonly name: string
  /** Packages of npm, pinned. */
  readonly packages: readonly string[]
  /** A call of its shell tool. */
  tool(command: string): { readonly tool: string; readonly input: unknown }
  /** Writes its configuration. */
  prepare(stage: Stage): void
  run(stage: Stage, options?: RunOptions): Promise<Ran>
  /** Cases that this agent has no way to do. */
  readonly cannot?: readonly string[]
  /** A call of the tool that starts a sub-agent; absent where it needs more than one call. */
  readonly subAgent?: { readonly tool: string; readonly input: unknown }
  /** Lets the agent work in another folder too; absent where it always may. */
  readonly addFolder?: (folder: string) => readonly string[]
  /** Tools that the agent offers its model and for which it runs no hook under that name. */
  readonly unhookedTools?: readonly string[]
  /** Where `connect` writes its commands, below the home folder; absent for plugins. */
  readonly config?: string
  /** How a run of the coordinator starts it without a terminal; absent where the coordinator has no executor for it. */
  readonly headless?: Headless
  /** Without permission for the tool, so that its own rules refuse; absent where that cannot be had offline. */
  runUnpermitted?(stage: Stage): Promise<Ran>
}

interface Headless {
  /** The program, in the place of the one that a user has in the path. */
  command(stage: Stage): readonly string[]
  readonly args?: readonly string[]
  env(stage: Stage): Readonly<Record<string, string>>
}

export interface RunOptions {
  readonly timeoutMs?: number
  /** More arguments of the agent. */
  readonly args?: readonly string[]
  /** Gets the process that was started, to end it in the middle. */
  onStart?(pid: number): void
}

interface Start {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly options?: RunOptions
}

/** Runs a program with nothing but the given environment, in a group of its own that is ended as a whole. */
export function runProgram({ program, args, env, cwd, options = {} }: Start): Promise<Ran> {
  const { timeoutMs = 120_000, onStart } = options
  const from = performance.now()
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env: { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', TERM: 'dumb', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    if (child.pid !== undefined) onStart?.(child.pid)
    let output = ''
    let timedOut = false
    const take = (chunk: Buffer) => {
      output += chunk
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    const timer = setTimeout(() => {
      timedOut = true
      endGroup(child)
    }, timeoutMs)
    child.on('error', (error) => {
      output += error.message
    })
    child.on('close', (code) => {
      clearTimeout(timer)
      endGroup(child)
      resolve({ code, output, ms: performance.now() - from, timedOut })
    })
  })
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

/** Packages are large, so they are kept between runs. */
export function cacheFolder(): string {
  return (
    process.env.HOOKHELM_AGENTS_CACHE ??
    join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'hookhelm-agents')
  )
}
