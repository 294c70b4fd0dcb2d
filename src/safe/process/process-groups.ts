import { type ChildProcess, spawn } from 'node:child_process'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Clock, Ticker } from '../../engine/core/time/clock.ts'
import type { ProcessExit, ProcessSpec } from './process-spec.ts'

/** The process groups that we started and that have not ended. */
const running = new Set<number>()
/** Learns about the groups, and kills them if this process is killed and cannot do it itself. */
export interface GroupGuard {
  guard(pid: number): void
  release(pid: number): void
}

const guards = new Set<GroupGuard>()
let listening = false

/** Reports every group to the guard, also those that run already. Returns its undo. */
export function addGroupGuard(guard: GroupGuard): () => void {
  guards.add(guard)
  for (const pid of running) guard.guard(pid)
  return () => guards.delete(guard)
}

/** `by` is the guard that started the group and knows it already. */
export function trackGroup(pid: number, by?: GroupGuard): void {
  running.add(pid)
  for (const guard of guards) if (guard !== by) guard.guard(pid)
  if (listening) return
  listening = true
  // Runs synchronously at the end, also after a SIGTERM handler exits.
  process.on('exit', killAllGroups)
}

export function releaseGroup(pid: number, by?: GroupGuard): void {
  running.delete(pid)
  for (const guard of guards) if (guard !== by) guard.release(pid)
}

/** The running groups, by the id of their first process. */
export function runningGroups(): readonly number[] {
  return [...running]
}

/** Kills every group that is still running. */
export function killAllGroups(): void {
  for (const pid of running) killGroup(pid, 'SIGKILL')
}

export function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has ended.
  }
}

/** The time between SIGTERM and SIGKILL. */
export const GRACE_MS = 500
/** How long to read output after the exit if another process keeps the pipe open. */
export const DRAIN_MS = 200

/** A child with a process group of its own, so that one signal reaches the child and its descendants. */
export abstract class GroupProcess {
  protected readonly child: ChildProcess | undefined
  /** Set when the child itself has ended; its descendants may still hold its pipes. */
  protected exit: ProcessExit | undefined
  /** Nothing of the group is waited for any more. */
  protected isOver = false
  readonly #clock: Clock
  #timer: Ticker | undefined

  constructor(
    { argv: [file = '', ...args], cwd, env }: Pick<ProcessSpec, 'argv' | 'cwd' | 'env'>,
    clock: Clock,
    stderr: 'pipe' | 'inherit' = 'pipe',
  ) {
    this.#clock = clock
    try {
      const stdio = ['pipe', 'pipe', stderr] as const
      this.child = spawn(file, args, { cwd, env: { ...env }, detached: true, stdio: [...stdio] })
    } catch (thrown) {
      const refused = errorText(thrown)
      queueMicrotask(() => this.finish(refused))
      return
    }
    if (this.child.pid !== undefined) trackGroup(this.child.pid)
    this.child.once('error', (error) => this.finish(error.message))
    this.child.once('exit', (code, signal) => {
      this.exit = { exitCode: code ?? undefined, signal: signal ?? undefined }
      if (!this.isOver) this.onExit()
    })
    this.child.once('close', () => this.finish())
    // A child need not read its stdin; its exit code still counts.
    for (const stream of this.child.stdio) stream?.on('error', () => {})
  }

  /** The child has ended. Not only `close`: a descendant that holds stdout would delay that for ever. */
  protected abstract onExit(): void

  /** Reports the end, once. `refused`: why the child could not be started. */
  protected abstract finish(refused?: string): void

  /** Lets go of the group and its pipes; returns false if that was done before. */
  protected endGroup(kills = true): boolean {
    if (this.isOver) return false
    this.isOver = true
    this.#timer?.stop()
    if (kills) this.kill('SIGKILL')
    if (this.child?.pid !== undefined) releaseGroup(this.child.pid)
    for (const stream of this.child?.stdio ?? []) stream?.destroy()
    return true
  }

  protected kill(signal: NodeJS.Signals): void {
    if (this.child?.pid !== undefined) killGroup(this.child.pid, signal)
  }

  /** Calls every `ms` milliseconds, in place of what was called before. */
  protected repeat(ms: number, tick: () => void): void {
    this.#timer?.stop()
    this.#timer = this.#clock.every(ms, tick)
  }
}
