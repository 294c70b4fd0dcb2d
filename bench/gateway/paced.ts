import { connect, type Socket } from 'node:net'
import { requestOf, type Target } from './load.ts'

export interface Paced {
  /** Milliseconds from when each request was due until its answer: waiting for a free connection counts. */
  readonly times: readonly number[]
  readonly served: number
  readonly refused: number
}

/** Sends so many requests a second, however long the answers take. */
export async function paced(
  target: Target,
  { perSecond, connections, ms }: { perSecond: number; connections: number; ms: number },
): Promise<Paced> {
  const request = requestOf(target)
  const times: number[] = []
  const due: number[] = []
  let [served, refused] = [0, 0]
  const idle: (() => void)[] = []
  const open = Array.from({ length: connections }, () => connection())
  const sockets = await Promise.all(open)
  const began = performance.now()
  let count = 0
  await new Promise<void>((done) => {
    const timer = setInterval(() => {
      const now = performance.now()
      for (; began + (count * 1_000) / perSecond <= now && now < began + ms; count++)
        due.push(began + (count * 1_000) / perSecond)
      while (due.length > 0 && idle.length > 0) idle.shift()?.()
      if (now < began + ms || idle.length < connections) return
      clearInterval(timer)
      done()
    }, 1)
  })
  for (const socket of sockets) socket.destroy()
  return { times: times.sort((a, b) => a - b), served, refused }

  function connection(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect(target.port, '127.0.0.1')
      let dueAt = 0
      const send = () => {
        dueAt = due.shift() ?? performance.now()
        socket.write(request)
      }
      let text = ''
      socket.setNoDelay(true).setEncoding('latin1')
      socket.on('error', reject).on('connect', () => {
        idle.push(send)
        resolve(socket)
      })
      socket.on('data', (chunk: string) => {
        text += chunk
        const end = text.indexOf('\r\n\r\n')
        const length = /content-length: (\d+)/i.exec(text.slice(0, end))
        if (end < 0 || text.length < end + 4 + Number(length?.[1])) return
        times.push(performance.now() - dueAt)
        if (text.startsWith('HTTP/1.1 200')) served++
        else refused++
        text = ''
        if (due.length > 0) send()
        else idle.push(send)
      })
    })
  }
}

/** The body of a dispatch of a shell call. */
export function callOf(command: string): string {
  return JSON.stringify({ event: 'pre_tool_use', payload: { tool_name: 'Bash', tool_input: { command } } })
}
