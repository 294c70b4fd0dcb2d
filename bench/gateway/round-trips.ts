import { connect } from 'node:net'
import { requestOf, type Target } from './load.ts'

const CALLS = 1_000
const ROUNDS = 8

/** Nanoseconds of one round trip by each way, the best median of several rounds in turns. */
export async function roundTrips(target: Target, socket: string): Promise<{ http: number; socket: number }> {
  const line = `{"id":"1",${target.body.slice(1)}\n`
  const http = await pinger({ port: target.port, host: '127.0.0.1' }, requestOf(target), (text) => {
    const end = text.indexOf('\r\n\r\n')
    const length = end < 0 ? null : /content-length: (\d+)/i.exec(text)
    return length !== null && text.length >= end + 4 + Number(length[1])
  })
  const local = await pinger({ path: socket }, line, (text) => text.endsWith('\n'), '{"hookhelm":1}\n')
  const best = { http: Number.POSITIVE_INFINITY, socket: Number.POSITIVE_INFINITY }
  for (let round = 0; round < ROUNDS; round++) {
    best.http = Math.min(best.http, await median(http.ping))
    best.socket = Math.min(best.socket, await median(local.ping))
  }
  http.end()
  local.end()
  return best
}

async function median(ping: () => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let call = 0; call < CALLS; call++) {
    const began = process.hrtime.bigint()
    await ping()
    times.push(Number(process.hrtime.bigint() - began))
  }
  return times.toSorted((a, b) => a - b)[CALLS / 2] ?? 0
}

/** Sends and waits for the whole answer, over one connection. */
async function pinger(
  to: { port: number; host: string } | { path: string },
  request: string,
  isWhole: (text: string) => boolean,
  hello = '',
): Promise<{ ping(): Promise<void>; end(): void }> {
  const connection = connect(to)
  await new Promise<void>((resolve, reject) =>
    connection.once('connect', () => resolve()).once('error', reject),
  )
  connection.setNoDelay(true).setEncoding('latin1')
  let text = ''
  let done: () => void = () => {}
  connection.on('data', (chunk: string) => {
    text += chunk
    if (isWhole(text)) done()
  })
  if (hello !== '') connection.write(hello)
  return {
    ping: () =>
      new Promise((resolve) => {
        text = ''
        done = resolve
        connection.write(request)
      }),
    end: () => connection.destroy(),
  }
}
