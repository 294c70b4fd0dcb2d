import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

export interface ReceivedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** A real HTTP receiver. `answer` gives the status of the nth request, counted from 1; a silent one never answers. */
export async function httpReceiver(answer: (n: number) => number | 'silent' = () => 200) {
  const received: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body })
      const status = answer(received.length)
      if (status !== 'silent') response.writeHead(status).end('ok')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, received }
}

/** A real SMTP server that accepts every mail. */
export async function smtpReceiver() {
  const mails: { from: string; to: string; data: string }[] = []
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    talk(socket, mails)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return { port: (server.address() as AddressInfo).port, mails }
}

function talk(socket: Socket, mails: { from: string; to: string; data: string }[]): void {
  const say = (line: string) => socket.write(`${line}\r\n`)
  let mail = { from: '', to: '', data: '' }
  let isData = false
  say('220 receiver ready')
  createInterface({ input: socket }).on('line', (line) => {
    if (isData) {
      if (line !== '.') {
        mail.data += `${line}\n`
        return
      }
      isData = false
      mails.push(mail)
      mail = { from: '', to: '', data: '' }
      say('250 accepted')
      return
    }
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'MAIL') mail.from = line
    if (verb === 'RCPT') mail.to = line
    if (verb === 'DATA') {
      isData = true
      say('354 go on')
    } else if (verb === 'QUIT') {
      say('221 bye')
      socket.end()
    } else say('250 ok')
  })
}
