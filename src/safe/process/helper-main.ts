/**
 * The program of the helper: starts children on behalf of a process whose memory would make every fork slow.
 * It lives as long as its stdin; when that ends, whoever wanted the children is gone, and they go too.
 */

import { openSync, readSync } from 'node:fs'
import { Child } from './child.ts'
import { frame, frameReader, type Head } from './helper-protocol.ts'
import type { Order } from './process-spec.ts'

const children = new Map<unknown, Child>()

function onFrame(head: Head, body: Buffer): void {
  if (head.stop !== undefined) return children.get(head.stop)?.stop()
  // Only our own other half writes here, and it writes an order without its stdin.
  start(head.start, { ...(head.order as Omit<Order, 'stdin'>), stdin: body })
}

function start(id: unknown, order: Order): void {
  const child = new Child(order)
  children.set(id, child)
  if (child.pid !== undefined) process.stdout.write(frame({ started: id, pid: child.pid }))
  void child.ended.then(({ stdout, stderr, ...end }) => {
    children.delete(id)
    process.stdout.write(frame({ ended: id, end, split: stdout.length }, stdout, stderr))
  })
}

// A terminal or a service manager signals the whole family; we end when our parent does.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
process.stdout.on('error', () => process.exit(0))
const read = frameReader(onFrame)
const napIfInTheWay = giveWay()
process.stdin.on('data', (chunk: Buffer) => {
  napIfInTheWay()
  read(chunk)
})
// Leaving kills every group that is still running.
process.stdin.on('end', () => process.exit(0))
process.stdout.write(frame({ ready: true }))

const NAP_MS = 0.05
/** Which processor a process ran on last: its place in /proc/<pid>/stat, counted behind the name. */
const PROCESSOR_FIELD = 36

/**
 * The kernel likes to wake us on the very processor that our parent is writing from, and our fork would then keep it
 * waiting: 7 % of its writes took 0.6 ms. A nap of a tenth of a millisecond lets it finish first.
 */
export function giveWay(): () => void {
  const ours = processorOf('self')
  const theirs = processorOf(String(process.ppid))
  if (ours === undefined || theirs === undefined) return () => {}
  const never = new Int32Array(new SharedArrayBuffer(4))
  return () => {
    if (ours() === theirs()) Atomics.wait(never, 0, 0, NAP_MS)
  }
}

/** Asks the kernel by way of a file that stays open, which costs a few microseconds. */
function processorOf(pid: string): (() => string | undefined) | undefined {
  const buffer = Buffer.alloc(1_024)
  const open = attempt(() => openSync(`/proc/${pid}/stat`, 'r'))
  // Only Linux has it.
  if (open === undefined) return undefined
  return () => {
    const length = attempt(() => readSync(open, buffer, 0, buffer.length, 0)) ?? 0
    const stat = buffer.toString('latin1', 0, length)
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[PROCESSOR_FIELD]
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
