import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

type Reply = Readonly<Record<string, unknown>>

export interface Scripted {
  readonly socket: string
  /** What came in, as it came. */
  readonly asked: { readonly event: string; readonly native: Readonly<Record<string, unknown>> }[]
  /** Whether something of this session came in. */
  knows(session: string): boolean
}

/** Answers every event alike. An answer of nothing ends the connection. */
export async function scriptedGateway(
  socket: string,
  reply: (agent: string) => Reply | undefined,
): Promise<Scripted> {
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 })
  chmodSync(dirname(socket), 0o700)
  rmSync(socket, { force: true })
  const asked: Scripted['asked'] = []
  const open = new Set<Socket>()
  const server = createServer((connection) => {
    open.add(connection)
    connection.on('error', () => {})
    let agent = ''
    createInterface({ input: connection }).on('line', (line) => {
      const said = JSON.parse(line)
      if ('hookhelm' in said) {
        agent = said.agent
        return
      }
      asked.push(said)
      const answer = reply(agent)
      if (answer === undefined) connection.destroy()
      else connection.write(`${JSON.stringify({ id: said.id, reply: answer })}\n`)
    })
  })
  await new Promise<void>((resolve) => server.listen({ path: socket }, resolve))
  onTestFinished(() => {
    for (const connection of open) connection.destroy()
    server.close()
  })
  return {
    socket,
    asked,
    knows: (session) => asked.some(({ native }) => JSON.stringify(native).includes(session)),
  }
}
