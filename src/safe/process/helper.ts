import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { createFrameReader, encodeFrame, type FrameHead } from './helper-protocol.ts'
import { addGroupGuard, type GroupGuard, killGroup, releaseGroup, trackGroup } from './process-groups.ts'
import type { ChildEnd, StartedChild, StartOrder } from './process-spec.ts'

/** Keeps the helper small, because a fork copies its memory map. */
const SMALL_PROCESS = ['--single-threaded', '--max-semi-space-size=1']

interface PendingChild {
  pid: number | undefined
  readonly settle: (end: ChildEnd) => void
  readonly fail: (error: HookError) => void
}

/** A small process that starts the children, however large this process is. helper-main.ts is its program. */
export class Helper {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #pending = new Map<number, PendingChild>()
  /** Groups that this process starts without the helper end with it too. */
  readonly #guard: GroupGuard = {
    guard: (pid) => this.#child.stdin.write(encodeFrame({ guard: pid })),
    release: (pid) => this.#child.stdin.write(encodeFrame({ release: pid })),
  }
  readonly #removeGuard: () => void
  #last = 0
  ready = false
  everReady = false
  dead = false

  constructor() {
    // `.ts` when running from source, `.js` in the package.
    const main = import.meta.filename.replace(/helper(\.[jt]s)$/, 'helper-main$1')
    this.#child = spawn(process.execPath, [...SMALL_PROCESS, main], {
      // Nothing inherited: each order contains the environment of its child.
      env: {},
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    this.#child.on('error', () => this.#onDeath())
    // Not `exit`: its last messages, such as a started group, may still be in the pipe.
    this.#child.on('close', () => this.#onDeath())
    this.#child.stdin.on('error', () => {})
    this.#child.stdout.on('error', () => {})
    this.#child.stdout.on(
      'data',
      createFrameReader((head, body) => this.#onFrame(head, body)),
    )
    this.#removeGuard = addGroupGuard(this.#guard)
    this.#hold(false)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  start({ stdin, ...order }: StartOrder): StartedChild {
    const id = ++this.#last
    const ended = new Promise<ChildEnd>((settle, fail) => {
      this.#pending.set(id, { pid: undefined, settle, fail })
    })
    if (this.dead) this.#onDeath()
    else {
      this.#hold(true)
      this.#child.stdin.write(encodeFrame({ start: id, order }, stdin))
    }
    return { ended, stop: () => this.#child.stdin.write(encodeFrame({ stop: id })) }
  }

  /** Ends its stdin. The helper then kills its children and exits. */
  close(): void {
    this.#removeGuard()
    this.#child.stdin.end()
  }

  #onFrame(head: FrameHead, body: Buffer): void {
    if (head.ready === true) {
      this.ready = true
      this.everReady = true
      return
    }
    const id = Number(head.started ?? head.ended)
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    if (typeof head.pid === 'number') {
      pending.pid = head.pid
      trackGroup(head.pid, this.#guard)
      return
    }
    this.#forget(id, pending)
    const split = Number(head.split)
    // Trusted: written by helper-main.ts.
    const end = head.end as Omit<ChildEnd, 'stdout' | 'stderr'>
    pending.settle({ ...end, stdout: body.subarray(0, split), stderr: body.subarray(split) })
  }

  #onDeath(): void {
    this.dead = true
    this.ready = false
    this.#removeGuard()
    for (const [id, pending] of this.#pending) {
      // The helper can no longer stop it.
      if (pending.pid !== undefined) killGroup(pending.pid, 'SIGKILL')
      this.#forget(id, pending)
      pending.fail(
        handlerError('process.start', 'the helper process that starts commands ended unexpectedly'),
      )
    }
  }

  #forget(id: number, { pid }: PendingChild): void {
    this.#pending.delete(id)
    if (pid !== undefined) releaseGroup(pid, this.#guard)
    if (this.#pending.size === 0) this.#hold(false)
  }

  /** Only a helper with running children keeps this process alive. */
  #hold(alive: boolean): void {
    if (alive) this.#child.ref()
    else this.#child.unref()
    for (const stream of [this.#child.stdin, this.#child.stdout]) {
      // The pipes of a child are sockets, which their types do not show.
      const socket = stream as unknown as { ref?(): void; unref?(): void }
      if (alive) socket.ref?.()
      else socket.unref?.()
    }
  }
}
