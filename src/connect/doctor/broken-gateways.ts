import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Sockets of gateways that do not work, and other faults, in a temporary folder. */
export interface BrokenGateways {
  /** No process listens here. */
  readonly dead: string
  /** Accepts connections and never answers. */
  readonly silent: string
  /** A folder for events that cannot be delivered. */
  readonly spool: string
  /** A module for NODE_OPTIONS that prints to stdout. */
  readonly printingModule: string
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
  server.listen({ path: silent })
  await once(server, 'listening')
  const printingModule = join(folder, 'prints.cjs')
  writeFileSync(printingModule, "process.stdout.write('printed by a module of NODE_OPTIONS\\n')\n")
  return {
    printingModule,
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
