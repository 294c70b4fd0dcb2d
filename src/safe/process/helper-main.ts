/**
 * The program of the helper: starts children on behalf of a process whose memory would make every fork slow.
 * It lives as long as its stdin; when that ends, whoever wanted the children is gone, and they go too.
 */
import { Child } from './child.ts'
import { frame, frameReader, type Head } from './frames.ts'
import { giveWay } from './give-way.ts'
import type { Order } from './spec.ts'

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
