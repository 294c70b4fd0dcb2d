import { lstatSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { type Decider, gatewayDecider, localDecider } from '../agents/mcp/decider.ts'
import { createClient } from '../client/client.ts'
import { dataFolder } from '../config/hook-folders.ts'
import { HookError } from '../engine/core/error.ts'
import { serverError } from '../engine/core/server-errors.ts'
import type { Log } from '../engine/core/sink.ts'
import { socketPath } from '../gateway/socket/socket-path.ts'
import { connection } from './remote/connection.ts'

/** How long a decision may take: less than what clients wait for a call. */
export const WITHIN_MS = 30_000

interface Deciding extends Decider {
  close(): Promise<void>
}

interface Where {
  readonly cwd: string
  readonly local?: boolean | undefined
  readonly url?: string | undefined
  readonly tokenFile?: string | undefined
  readonly socket?: string | undefined
  readonly within?: string | undefined
}

/** Who decides for the proxy: a gateway by its socket or address, or hook files. */
export async function openDecider(where: Where, tell: (line: string) => void): Promise<Deciding> {
  if (where.local) {
    // Brings every handler along, which only those need who ask for it.
    const { openLocal } = await import('../app/local.ts')
    const local = await openLocal({ cwd: where.cwd, log: warning(tell) })
    return { ...localDecider(local.hooks), close: () => local.close() }
  }
  const timeoutMs = Number(where.within ?? WITHIN_MS)
  if (!(timeoutMs > 0)) throw wrong('--within takes milliseconds')
  const hasUrl = where.socket === undefined && (where.url ?? process.env.HOOKHELM_URL) !== undefined
  const socket = hasUrl ? undefined : (where.socket ?? ownSocket())
  const client = createClient({ ...(socket === undefined ? connection(where) : { socket }), timeoutMs })
  const check = () => (socket === undefined ? undefined : checkSocket(socket))
  return { ...gatewayDecider(client, check), close: () => client.close() }
}

function ownSocket(): string {
  const { env } = process
  const uid = process.getuid?.()
  if (uid === undefined) throw wrong('there are no sockets here; give --url')
  return socketPath({ home: dataFolder(env), runtimeDir: env.XDG_RUNTIME_DIR, tempDir: tmpdir(), uid })
}

/** Whoever could put a socket there could decide in the gateway's place. */
function checkSocket(path: string): void {
  const directory = lstatSync(dirname(path), { throwIfNoEntry: false })
  if (directory === undefined) return
  const isOurs = directory.uid === process.getuid?.() || directory.uid === 0
  if (!directory.isDirectory() || !isOurs || (directory.mode & 0o022) !== 0)
    throw serverError('gateway.socket', `others may write to the directory of ${path}`)
}

function warning(tell: (line: string) => void): Log {
  return (name, fields) => {
    if (name === 'trust.needed') tell(`inert until you trust it: ${String(fields.file)} (hookhelm trust)`)
  }
}

function wrong(what: string): HookError {
  return new HookError('config.field', what)
}
