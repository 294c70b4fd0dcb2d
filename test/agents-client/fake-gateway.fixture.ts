import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface FakeGateway {
  readonly socket: string
  /** Everything that clients said, by connection. */
  readonly heard: readonly string[]
  /** A client has sent its two lines. */
  readonly asked: Promise<Socket>
}

/** A folder of ours alone, gone with the test. */
export function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-client-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Does what it is told once the two lines of a request are there. */
export async function fakeGateway(
  answer: (socket: Socket, request: string) => void = () => {},
): Promise<FakeGateway> {
  const socket = join(ownFolder(), 'gateway.sock')
  const heard: string[] = []
  const asked = Promise.withResolvers<Socket>()
  const open = new Set<Socket>()
  const server = createServer((connection) => {
    const index = heard.push('') - 1
    open.add(connection)
    connection.on('error', () => {})
    connection.once('close', () => open.delete(connection))
    connection.setEncoding('utf8').on('data', (chunk: string) => {
      const before = lines(heard[index] ?? '')
      heard[index] += chunk
      if (before > 1 || lines(chunk) + before < 2) return
      asked.resolve(connection)
      answer(connection, heard[index]?.split('\n')[1] ?? '')
    })
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  onTestFinished(async () => {
    for (const connection of open) connection.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { socket, heard, asked: asked.promise }
}

function lines(text: string): number {
  return text.split('\n').length - 1
}

/** Answers every request with these bytes. */
export function saying(bytes: string | Uint8Array): Promise<FakeGateway> {
  return fakeGateway((connection) => connection.write(bytes))
}

export function replyLine(reply: { exit?: number; stdout?: string; stderr?: string } = {}): string {
  const { exit = 0, stdout = '', stderr = '' } = reply
  return `${JSON.stringify({ id: 1, reply: { exit, stdout, stderr } })}\n`
}

export const args = (socket: string, ...more: string[]): string[] => [
  'claude-code',
  'PreToolUse',
  '--socket',
  socket,
  ...more,
]
