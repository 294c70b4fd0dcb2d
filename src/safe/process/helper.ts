import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { HookError } from '../../engine/core/error.ts'
import { frame, frameReader, type Head } from './helper-protocol.ts'
import { killGroup, releaseGroup, trackGroup } from './process-groups.ts'
import type { End, Order, Started } from './process-spec.ts'

/** A fork copies what it finds: no spare threads, a small heap for what is new. */
const SMALL = ['--single-threaded', '--max-semi-space-size=1']

interface Waiting {
  pid: number | undefined
  readonly settle: (end: End) => void
  readonly fail: (error: HookError) => void
}

/** Our half of the helper: a small process of our own that starts the children, however large we are. */
export class Helper {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #waiting = new Map<number, Waiting>()
  #last = 0
  ready = false
  everReady = false
  dead = false

  constructor() {
    // The ending of this file is the ending of its neighbours: .ts in the sources, .js in the package.
    const main = import.meta.filename.replace(/helper(\.[jt]s)$/, 'helper-main$1')
    this.#child = spawn(process.execPath, [...SMALL, main], {
      // Nothing of our environment: what children may see stands in each order.
      env: {},
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    this.#child.on('error', () => this.#died())
    // Not on `exit`: what it last said, such as the group it had just started, may still be in the pipe.
    this.#child.on('close', () => this.#died())
    this.#child.stdin.on('error', () => {})
    this.#child.stdout.on('error', () => {})
    this.#child.stdout.on(
      'data',
      frameReader((head, body) => this.#onFrame(head, body)),
    )
    this.#hold(false)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  start({ stdin, ...order }: Order): Started {
    const id = ++this.#last
    const ended = new Promise<End>((settle, fail) => {
      this.#waiting.set(id, { pid: undefined, settle, fail })
    })
    if (this.dead) this.#died()
    else {
      this.#hold(true)
      this.#child.stdin.write(frame({ start: id, order }, stdin))
    }
    return { ended, stop: () => this.#child.stdin.write(frame({ stop: id })) }
  }

  /** Its stdin ends, so it kills what still runs and leaves. */
  close(): void {
    this.#child.stdin.end()
  }

  #onFrame(head: Head, body: Buffer): void {
    if (head.ready === true) {
      this.ready = true
      this.everReady = true
      return
    }
    const id = Number(head.started ?? head.ended)
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    if (typeof head.pid === 'number') {
      waiting.pid = head.pid
      trackGroup(head.pid)
      return
    }
    this.#forget(id, waiting)
    const split = Number(head.split)
    // Our own other half wrote it.
    const end = head.end as Omit<End, 'stdout' | 'stderr'>
    waiting.settle({ ...end, stdout: body.subarray(0, split), stderr: body.subarray(split) })
  }

  #died(): void {
    this.dead = true
    this.ready = false
    for (const [id, waiting] of this.#waiting) {
      // It can no longer look after them.
      if (waiting.pid !== undefined) killGroup(waiting.pid, 'SIGKILL')
      this.#forget(id, waiting)
      waiting.fail(new HookError('process.start', 'the process that starts commands ended unexpectedly'))
    }
  }

  #forget(id: number, { pid }: Waiting): void {
    this.#waiting.delete(id)
    if (pid !== undefined) releaseGroup(pid)
    if (this.#waiting.size === 0) this.#hold(false)
  }

  /** An idle helper keeps nobody alive; one that works does. */
  #hold(alive: boolean): void {
    if (alive) this.#child.ref()
    else this.#child.unref()
    for (const stream of [this.#child.stdin, this.#child.stdout]) {
      // Pipes of a child are sockets, which the types of streams do not say.
      const socket = stream as unknown as { ref?(): void; unref?(): void }
      if (alive) socket.ref?.()
      else socket.unref?.()
    }
  }
}
