import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Figure, ratio } from '../figure.ts'
import { callOf, paced } from './paced.ts'

/** The loud tenant: how many dispatches a second it may send and sends, and of how many bytes. */
const noises = [
  { title: 'at its limit', limit: 300, perSecond: 600, bytes: 2, goal: 2 },
  // Nobody can send a megabyte so often, so it sends as fast as it is served.
  {
    title: 'sending 1 MB events at full rate',
    limit: 1_000_000,
    perSecond: 1_000,
    bytes: 1_000_000,
    goal: 3,
  },
] as const
type Noise = (typeof noises)[number]
const QUIET_PER_SECOND = 200
const ROUND_MS = 2_000
const ROUNDS = 4

const body = callOf('ls')
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** How much of its neighbour's noise a tenant notices: its p99 with and without, in turns. */
export async function neighbourFigures(): Promise<Figure[]> {
  const figures = []
  for (const noise of noises) figures.push(await neighbourFigure(noise))
  return figures
}

async function neighbourFigure({ title, limit, perSecond, bytes, goal }: Noise): Promise<Figure> {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-neighbour-'))
  const gateway = fork(script('./tenants-server.ts'), [String(limit)], {
    env: { PATH: process.env.PATH, HOME: home, HOOKHELM_HOME: home },
  })
  try {
    const [{ port, loud, quiet }] = (await once(gateway, 'message')) as [
      { port: number; loud: string; quiet: string },
    ]
    const p99 = async () => {
      const load = { perSecond: QUIET_PER_SECOND, connections: 8, ms: ROUND_MS }
      const { times, refused } = await paced({ port, path: '/v1/dispatch', token: quiet, body }, load)
      if (refused > 0) throw new Error(`${refused} dispatches of the quiet tenant were refused`)
      return times[Math.floor(times.length * 0.99)] ?? 0
    }
    await p99()
    let [alone, beside] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    const noise = { served: 0, refused: 0 }
    for (let round = 0; round < ROUNDS; round++) {
      alone = Math.min(alone, await p99())
      const hammer = fork(script('./hammer.ts'), [String(port), loud, String(perSecond), String(bytes)])
      hammer.on('message', ({ served, refused }: typeof noise) => {
        noise.served += served
        noise.refused += refused
      })
      await once(hammer, 'message')
      beside = Math.min(beside, await p99())
      await ended(hammer, 'SIGKILL')
    }
    const figure = ratio(`p99 of a tenant, neighbour ${title} : quiet`, beside * 1e6, alone * 1e6, goal)
    return {
      ...figure,
      detail: `${beside.toFixed(2)} ms against ${alone.toFixed(2)} ms, ${noise.refused} of the neighbour's ${
        noise.served + noise.refused
      } dispatches refused`,
    }
  } finally {
    await ended(gateway, 'SIGKILL')
    rmSync(home, { recursive: true, force: true })
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}
