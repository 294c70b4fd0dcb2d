import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Figure, ratio } from '../figure.ts'

const EVENTS = 2_000
const ROUNDS = 5
const CREATES = 30
/** Rows of the audit are made after half a second of quiet; they belong to the events that caused them. */
const SETTLE_MS = 1_500

interface Server {
  readonly child: ChildProcess
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** What an event and a change of a hook cost with many stored hooks, to the same with one. */
export async function manyHooksFigures(): Promise<Figure[]> {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-bench-'))
  const [one, thousand, more] = await Promise.all([
    startServer(home, 1),
    startServer(home, 1_000),
    startServer(home, 1_500),
  ])
  try {
    const cpu = await inTurns(ROUNDS, { few: () => cpuPerEvent(one), many: () => cpuPerEvent(thousand) })
    const create = await inTurns(3, { few: () => createTime(one), many: () => createTime(more) })
    return [
      ratio('CPU per event, 1 matching of 1 000 stored hooks, to 1 of 1', cpu.many, cpu.few, 1.2),
      ratio('creating a hook beside 1 500 others, to one beside few', create.many, create.few, 1.2),
    ]
  } finally {
    for (const { child } of [one, thousand, more]) {
      child.send('stop')
      await once(child, 'exit')
    }
    rmSync(home, { recursive: true, force: true })
  }
}

async function startServer(home: string, hooks: number): Promise<Server> {
  const file = fileURLToPath(new URL('./many-hooks-server.ts', import.meta.url))
  const env = { PATH: process.env.PATH, HOME: home, HOOKHELM_HOME: join(home, String(hooks)) }
  const child = fork(file, [String(hooks)], { env, execArgv: [] })
  const [{ port, token }] = (await once(child, 'message')) as [{ port: number; token: string }]
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return { child, url: `http://127.0.0.1:${port}`, headers }
}

async function inTurns<K extends string>(
  rounds: number,
  measures: Readonly<Record<K, () => Promise<number>>>,
): Promise<Record<K, number>> {
  const best: Partial<Record<K, number>> = {}
  const entries = Object.entries(measures) as [K, () => Promise<number>][]
  for (let round = 0; round < rounds; round++)
    for (const [name, measure] of entries)
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, await measure())
  return best as Record<K, number>
}

async function cpuNs({ child }: Server): Promise<number> {
  child.send('cpu')
  const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage]
  return (user + system) * 1_000
}

async function cpuPerEvent(server: Server): Promise<number> {
  const body = JSON.stringify({
    event: 'pre_tool_use',
    payload: { tool_name: 'Bash', tool_input: { command: 'git status' } },
    envelope: { session: 's1', agent: 'claude' },
  })
  const before = await cpuNs(server)
  const sender = async () => {
    for (let sent = 0; sent < EVENTS / 8; sent++) await post(server, '/v1/dispatch', body)
  }
  await Promise.all(Array.from({ length: 8 }, sender))
  await sleep(SETTLE_MS)
  return ((await cpuNs(server)) - before) / EVENTS
}

/** The median of several, in nanoseconds. */
async function createTime(server: Server): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < CREATES; index++) {
    const config = { name: 'pass' }
    const hook = { event: 'stop', handler_type: 'function', scope: 'tenant', config, enabled: false }
    const before = performance.now()
    await post(server, '/v1/hooks', JSON.stringify(hook))
    times.push(performance.now() - before)
  }
  return (times.toSorted((a, b) => a - b)[CREATES / 2] ?? 0) * 1e6
}

async function post({ url, headers }: Server, path: string, body: string): Promise<void> {
  const response = await fetch(url + path, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(await response.text())
  await response.arrayBuffer()
}
