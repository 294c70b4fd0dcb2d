import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '../../src/client/index.ts'
import { freshDatabase } from '../../test/postgres/database.ts'
import { startServer } from '../../test/postgres/server.ts'
import { type Figure, ratio } from '../figure.ts'
import { median } from '../measure.ts'

const ANSWERS = 60
const PENDING = 1_000
const CALLS = 500
const ROUNDS = 4
const TURNS = 4
/** A gateway becomes faster for this many dispatches, which would count for whatever is measured last. */
const WARM_UP = 20_000
const WAIT_MS = 3_600_000

interface Node {
  readonly child: ChildProcess
  readonly client: Client
  readonly address: GatewayAddress
}

interface GatewayAddress {
  readonly url: string
  readonly token: string
  readonly socket: string
}

/** How fast the answer of a person reaches the call that waits, and what waiting calls cost those that ask no person. */
export async function approvalFigures(): Promise<Figure[]> {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-bench-'))
  const postgres = await startServer()
  const { url: database, drop } = await freshDatabase(postgres)
  const alone = await startNode(join(home, 'lite'))
  const nodes = [
    await startNode(join(home, 'a'), database),
    await startNode(join(home, 'b'), database),
  ] as const
  try {
    const one = await answerTimes(alone, alone)
    const two = await answerTimes(nodes[0], nodes[1])
    return [
      limit('a decision reaches its caller on one node, p50', one, 20),
      limit('the same from another node, p50', two, 200),
      ...(await idleFigures(alone)),
    ]
  } finally {
    for (const { child, client } of [alone, ...nodes]) {
      await client.close()
      child.send('stop')
      await once(child, 'exit')
    }
    await drop()
    await postgres.remove()
    rmSync(home, { recursive: true, force: true })
  }
}

async function startNode(home: string, database?: string): Promise<Node> {
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, HOOKHELM_HOME: home },
    HOOKHELM_ENCRYPTION_KEY: 'ab'.repeat(32),
  }
  const args = database === undefined ? [] : [database]
  const child = fork(besideThis('approvals-server.ts'), args, { env, execArgv: ['--expose-gc'] })
  const [address] = (await once(child, 'message')) as [GatewayAddress]
  return { child, client: createClient(address), address }
}

const besideThis = (file: string) => fileURLToPath(new URL(file, import.meta.url))

const event = (command: string, session: string) => ({
  event: 'pre_tool_use' as const,
  payload: { tool_name: 'Bash', tool_input: { command } },
  envelope: { session },
})

/** Milliseconds from the moment a person presses the button until the caller has the decision. */
async function answerTimes(callers: Node, people: Node): Promise<readonly number[]> {
  const times: number[] = []
  for (let index = 0; index < ANSWERS; index++) {
    const call = callers.client.dispatch(event('git push', `answer-${index}`), { waitMs: WAIT_MS })
    const approval_id = await pendingOne(people.client)
    const began = performance.now()
    const answered = call.then(() => performance.now() - began)
    await people.client.call('approvals.approve', { approval_id })
    times.push(await answered)
  }
  return times
}

async function pendingOne(client: Client): Promise<string> {
  for (;;) {
    const { approvals } = await client.call('approvals.list', { status: 'pending', limit: 1 })
    if (approvals[0] !== undefined) return approvals[0].approval_id
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function limit(name: string, times: readonly number[], goal: number): Figure {
  const last = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0
  return {
    name,
    value: median(times),
    unit: 'ms',
    goal,
    better: 'at most',
    detail: `p95 ${last.toFixed(1)} ms`,
  }
}

/**
 * A dispatch that asks no person: able to wait or not, and while 1 000 calls wait or while none does. One gateway is measured
 * in all states, because two processes differ by more than the states do.
 */
async function idleFigures(node: Node): Promise<Figure[]> {
  const send = (waits = {}) => node.client.dispatch(event('git status', 'idle'), waits)
  for (let call = 0; call < WARM_UP; call++) await send()
  const best = { plain: Infinity, able: Infinity, beside: Infinity }
  const take = async (kind: keyof typeof best, waits = {}) => {
    best[kind] = Math.min(best[kind], await typical(() => send(waits)))
  }
  let memory = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    for (let turn = 0; turn < TURNS; turn++) {
      await take('plain')
      await take('able', { waitMs: WAIT_MS })
    }
    const before = await memoryOf(node)
    const held = await holdCalls(node)
    memory = Math.min(memory, (await memoryOf(node)) - before)
    for (let turn = 0; turn < TURNS; turn++) await take('beside')
    await held.end()
  }
  return [
    ratio(
      'a dispatch that asks no person but could wait, to one that could not',
      best.able,
      best.plain,
      1.05,
    ),
    ratio(`a dispatch beside ${PENDING} calls that wait, to one beside none`, best.beside, best.plain, 1.1),
    {
      name: 'memory of a call that waits',
      value: Math.max(0, memory) / PENDING / 1_024,
      unit: 'KB',
      goal: 32,
      better: 'at most',
    },
  ]
}

/** The callers are another process: what their calls cost them is no cost of the gateway. */
async function holdCalls({ client, address }: Node) {
  const args = [JSON.stringify(address), String(PENDING), String(WAIT_MS)]
  const callers = fork(besideThis('approvals-callers.ts'), args)
  await untilPending(client, (pending) => pending >= PENDING)
  return {
    async end() {
      callers.kill()
      await once(callers, 'exit')
      await untilPending(client, (pending) => pending === 0)
    },
  }
}

async function untilPending(client: Client, isReached: (pending: number) => boolean): Promise<void> {
  for (;;) {
    const { pending } = await client.call('approvals.list', { status: 'pending', limit: 1 })
    if (isReached(pending)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Nanoseconds of one dispatch, the median of several. */
async function typical(send: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let call = 0; call < CALLS; call++) {
    const began = process.hrtime.bigint()
    await send()
    times.push(Number(process.hrtime.bigint() - began))
  }
  return median(times)
}

async function memoryOf({ child }: Node): Promise<number> {
  child.send('memory')
  const [{ bytes }] = (await once(child, 'message')) as [{ bytes: number }]
  return bytes
}
