import { connect, type Socket } from 'node:net'

export interface Target {
  readonly port: number
  readonly path: string
  readonly token?: string
  readonly body: string
}

/** Posts over so many kept connections for so long; each sends its next request with the answer to the last. */
export async function load(
  target: Target,
  connections: number,
  ms: number,
): Promise<{ perSecond: number; p50: number; p99: number; bad: number }> {
  const request = requestOf(target)
  const times: number[] = []
  let bad = 0
  const until = performance.now() + ms
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket: Socket = connect(target.port, '127.0.0.1')
      let sentAt = 0
      let text = ''
      const send = () => {
        sentAt = performance.now()
        text = ''
        socket.write(request)
      }
      socket.setNoDelay(true).setEncoding('latin1')
      socket
        .on('connect', send)
        .on('error', reject)
        .on('close', () => resolve())
      socket.on('data', (chunk: string) => {
        text += chunk
        if (!isWhole(text)) return
        const now = performance.now()
        times.push(now - sentAt)
        if (!text.startsWith('HTTP/1.1 200')) bad++
        if (now >= until) socket.destroy()
        else send()
      })
    })
  const started = performance.now()
  await Promise.all(Array.from({ length: connections }, one))
  const seconds = (performance.now() - started) / 1_000
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0
  return { perSecond: times.length / seconds, p50: at(0.5), p99: at(0.99), bad }
}

export function requestOf({ port, path, token, body }: Target): string {
  return [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /content-length: (\d+)/i.exec(text.slice(0, end))
  return length !== null && text.length >= end + 4 + Number(length[1])
}
