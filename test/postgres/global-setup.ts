import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type PostgresServer, startServer } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Asked for the address of the PostgreSQL that this run shares; the first question starts it. */
    postgresSocket: string
  }
}

/** One PostgreSQL for the whole run, started only when a test asks for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-ask-'))
  const socket = join(folder, 'ask')
  let starting: Promise<PostgresServer> | undefined
  const asked = createServer(async (connection) => {
    connection.on('error', () => {})
    starting ??= startServer()
    const answer = await starting.then(
      ({ binaries, port, socketDir, password }) => ({ binaries, port, socketDir, password }),
      (error: unknown) => ({ failure: String(error) }),
    )
    connection.end(JSON.stringify(answer))
  })
  await new Promise<void>((listening) => asked.listen(socket, listening))
  project.provide('postgresSocket', socket)
  return async () => {
    asked.close()
    rmSync(folder, { recursive: true, force: true })
    const server = await starting?.catch(() => undefined)
    await server?.remove()
  }
}
