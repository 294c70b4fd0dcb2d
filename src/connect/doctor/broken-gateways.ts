import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Sockets of gateways that do not work, in a temporary folder. */
export interface BrokenGateways {
  /** No process listens here. */
  readonly dead: string
  /** Accepts connections and never answers. */
  readonly silent: string
  /** A folder for events that cannot be delivered. */
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
