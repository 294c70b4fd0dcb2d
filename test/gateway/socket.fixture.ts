import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { SocketServer } from '../../src/gateway/doors/socket/socket-server.ts'
import { closeNow, type GatewayFixtureOptions, makeDoor } from './gateway.fixture.ts'

export const uid = process.getuid?.() ?? 0

export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hh-socket-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function startSocket(
  options: GatewayFixtureOptions & { path?: string; holdsLock?: boolean } = {},
) {
  const made = makeDoor(options)
  const path = options.path ?? join(scratch(), 'run', 'gateway.sock')
  const server = new SocketServer({ door: made.door, path, holdsLock: options.holdsLock ?? true, uid })
  await server.listen()
  onTestFinished(() => closeNow((ms) => server.close(ms), options.clock))
  return { ...made, path, server }
}

export interface LineClient {
  readonly socket: Socket
  send(line: unknown): void
  next(): Promise<Record<string, unknown>>
  readonly closed: Promise<void>
}

/** Lines as they are, without the client's care. */
export function openLines(path: string, hello: unknown = { hookhelm: 1 }): LineClient {
  const socket = connect({ path })
  const lines: string[] = []
  let rest = ''
  let wake = () => {}
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
    wake()
  })
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  onTestFinished(() => {
    socket.destroy()
  })
  const send = (line: unknown) => socket.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
  send(hello)
  return {
    socket,
    send,
    closed,
    async next() {
      while (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return JSON.parse(lines.shift() ?? '') as Record<string, unknown>
    },
  }
}
