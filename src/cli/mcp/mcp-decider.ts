import { lstatSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { type Client, createClient } from '../../client/client.ts'
import { createDecider, type Decider } from '../../client/decider.ts'
import { HookError } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { socketPath } from '../../gateway/doors/socket/socket-path.ts'
import { dataFolder } from '../../hook-files/hook-folders.ts'
import type { Flags } from '../command.ts'
import { connection } from '../remote/connection.ts'

/** The default time for a decision. MCP clients wait longer for a call. */
export const DECISION_TIMEOUT_MS = 30_000
/** Below the minute that most MCP clients wait for a call. */
export const MCP_WAIT_MS = 50_000

interface OpenDecider extends Decider {
  close(): Promise<void>
}

type DeciderFlags = Flags<'url' | 'tokenFile' | 'socket' | 'within' | 'wait', 'local'> & {
  readonly cwd: string
}

/** Opens the source of decisions that the flags name: a gateway, by socket or address, or hook files. */
export async function openDecider(flags: DeciderFlags, warn: (line: string) => void): Promise<OpenDecider> {
  if (flags.local) {
    // Loaded on demand: it brings every handler along.
    const { openLocal } = await import('../../app/local.ts')
    const local = await openLocal({ cwd: flags.cwd, log: warnUntrusted(warn) })
    return { ...createDecider({ hooks: local.hooks }), close: () => local.close() }
  }
  const timeoutMs = Number(flags.within ?? DECISION_TIMEOUT_MS)
  if (!(timeoutMs > 0)) throw invalidFlag('--within must be a number of milliseconds')
  const waitMs = Number(flags.wait ?? MCP_WAIT_MS)
  if (!(waitMs >= 0)) throw invalidFlag('--wait must be a number of milliseconds')
  const hasUrl = flags.socket === undefined && (flags.url ?? process.env.HOOKHELM_URL) !== undefined
  const socket = hasUrl ? undefined : (flags.socket ?? ownSocket())
  const client = createClient({ ...(socket === undefined ? connection(flags) : { socket }), timeoutMs })
  const dispatch: Client['dispatch'] = async (event, options) => {
    if (socket !== undefined) checkSocket(socket)
    return client.dispatch(event, options)
  }
  return { ...createDecider({ client: { dispatch }, waitMs }), close: () => client.close() }
}

function ownSocket(): string {
  const { env } = process
  const uid = process.getuid?.()
  if (uid === undefined) throw invalidFlag('this system has no unix sockets; use --url')
  return socketPath({ home: dataFolder(env), runtimeDir: env.XDG_RUNTIME_DIR, tempDir: tmpdir(), uid })
}

/** Another user with write permission could put a socket there and decide instead of the gateway. */
function checkSocket(path: string): void {
  const directory = lstatSync(dirname(path), { throwIfNoEntry: false })
  if (directory === undefined) return
  const isOurs = directory.uid === process.getuid?.() || directory.uid === 0
  if (!directory.isDirectory() || !isOurs || (directory.mode & 0o022) !== 0)
    throw serverError('gateway.socket', `other users may write to the directory of ${path}`)
}

function warnUntrusted(warn: (line: string) => void): Log {
  return (name, fields) => {
    if (name === 'trust.needed') warn(String(fields.text))
  }
}

function invalidFlag(what: string): HookError {
  return new HookError('config.field', what)
}
