import { createClient } from '../../src/client/index.ts'
import type { Target } from './load.ts'

const CALLS = 1_000
const ROUNDS = 8

/** Nanoseconds of one dispatch by each way of our own client, the best median of several rounds in turns. */
export async function roundTrips(target: Target, socket: string): Promise<{ http: number; socket: number }> {
  const { event, payload, envelope } = JSON.parse(target.body)
  const url = `http://127.0.0.1:${target.port}`
  const clients = {
    http: createClient({ url, token: target.token ?? '' }),
    socket: createClient({ url, socket, token: target.token ?? '' }),
  }
  const best = { http: Number.POSITIVE_INFINITY, socket: Number.POSITIVE_INFINITY }
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of ['http', 'socket'] as const)
      best[way] = Math.min(best[way], await median(() => clients[way].dispatch({ event, payload, envelope })))
  }
  for (const client of Object.values(clients)) await client.close()
  return best
}

async function median(send: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let call = 0; call < CALLS; call++) {
    const began = process.hrtime.bigint()
    await send()
    times.push(Number(process.hrtime.bigint() - began))
  }
  return times.toSorted((a, b) => a - b)[CALLS / 2] ?? 0
}
