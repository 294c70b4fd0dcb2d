/**
 * The helper process. It starts children for its parent, whose large memory makes every fork slow. When its stdin ends, the
 * parent is gone, and the helper exits and kills the children, with the groups that the parent started itself.
 */

import { openSync, readSync } from 'node:fs'
import { ChildRun } from './child.ts'
import { createFrameReader, encodeFrame, type FrameHead } from './helper-protocol.ts'
import { releaseGroup, trackGroup } from './process-groups.ts'
import type { StartOrder } from './process-spec.ts'

const SLEEP_MS = 0.05
/** The index of the last-used processor in /proc/<pid>/stat, counted after the name. */
const PROCESSOR_FIELD = 36

const children = new Map<unknown, ChildRun>()

function onFrame(head: FrameHead, body: Buffer): void {
  if (head.stop !== undefined) return children.get(head.stop)?.stop()
  if (head.guard !== undefined) return trackGroup(Number(head.guard))
  if (head.release !== undefined) return releaseGroup(Number(head.release))
  // Trusted: written by helper.ts, which sends the stdin as the body.
  start(head.start, { ...(head.order as Omit<StartOrder, 'stdin'>), stdin: body })
}

function start(id: unknown, order: StartOrder): void {
  const child = new ChildRun(order)
  children.set(id, child)
  if (child.pid !== undefined) process.stdout.write(encodeFrame({ started: id, pid: child.pid }))
  void child.ended.then(({ stdout, stderr, ...end }) => {
    children.delete(id)
    process.stdout.write(encodeFrame({ ended: id, end, split: stdout.length }, stdout, stderr))
  })
}

// Terminals and service managers signal all processes; the helper ends only with its parent.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
// The parent is gone. Its stdin still tells which groups it started, and ends.
process.stdout.on('error', () => {})
const read = createFrameReader(onFrame)
const yieldIfSameCpu = yieldToParent()
process.stdin.on('data', (chunk: Buffer) => {
  yieldIfSameCpu()
  read(chunk)
})
// The exit kills every group that is still running.
process.stdin.on('end', () => process.exit(0))
process.stdout.write(encodeFrame({ ready: true }))

/**
 * The kernel often wakes the helper on the processor that the parent is writing from, and the fork then delays the parent:
 * 7 % of its writes took 0.6 ms. A short sleep lets the parent finish first.
 */
function yieldToParent(): () => void {
  const ours = processorOf('self')
  const theirs = processorOf(String(process.ppid))
  if (ours === undefined || theirs === undefined) return () => {}
  const never = new Int32Array(new SharedArrayBuffer(4))
  return () => {
    if (ours() === theirs()) Atomics.wait(never, 0, 0, SLEEP_MS)
  }
}

/** Reads the processor of a process through a file that stays open, which takes a few microseconds. */
function processorOf(pid: string): (() => string | undefined) | undefined {
  const buffer = Buffer.alloc(1_024)
  const open = attempt(() => openSync(`/proc/${pid}/stat`, 'r'))
  // Only Linux has this file.
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
