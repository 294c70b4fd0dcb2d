import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder of our own with the two ways a gateway can be missing, and a place for what is kept meanwhile. */
export interface BrokenGateways {
  /** Nobody listens. */
  readonly dead: string
  /** Somebody listens, takes everything and says nothing. */
  readonly silent: string
  /** An empty folder for events that could not be delivered. */
  readonly spool: string
  close(): void
}

export async function openBrokenGateways(): Promise<BrokenGateways> {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-doctor-'))
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.resume()
  })
  const silent = join(folder, 'silent.sock')
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path: silent }, resolve)
  })
  return {
    dead: join(folder, 'nobody.sock'),
    silent,
    spool: join(folder, 'spool'),
    close() {
      server.close()
      for (const socket of open) socket.destroy()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
