import { chmodSync, lstatSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { errorText } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { dataFolder } from '../../../hook-files/hook-folders.ts'
import { createPrivateFolder } from '../../../safe/private-folder.ts'
import { writePrivateFile } from '../../../safe/write-private-file.ts'

/** The paths of a gateway's data folder. */
export interface GatewayHome {
  readonly folder: string
  readonly database: string
  readonly config: string
  readonly keys: string
  readonly token: string
  /** Holds a random id, which marks what belongs to this gateway in a shared database. */
  readonly id: string
  readonly lock: string
  /** Holds the URL of the gateway while it runs. */
  readonly address: string
  /** Holds events that agents spooled while no gateway answered. */
  readonly spool: string
}

export function gatewayHome(env: Readonly<Record<string, string | undefined>>): GatewayHome {
  const folder = dataFolder(env)
  return {
    folder,
    database: join(folder, 'hookhelm.db'),
    config: join(folder, 'config.yaml'),
    keys: join(folder, 'encryption-keys'),
    token: join(folder, 'admin-token'),
    id: join(folder, 'gateway-id'),
    lock: join(folder, 'lock.db'),
    address: join(folder, 'address'),
    spool: join(folder, 'spool'),
  }
}

/** Creates the data folder, readable by its owner only. */
export function createGatewayHome({ folder }: GatewayHome): void {
  try {
    createPrivateFolder(folder)
  } catch (thrown) {
    throw serverError('gateway.setting', `the data folder ${folder} cannot be used: ${errorText(thrown)}`)
  }
}

/** Reads a file that only its owner may read; returns undefined if there is none. */
export function readPrivateFile(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if (!found.isFile() || (found.mode & 0o077) !== 0)
    throw serverError('gateway.setting', `${path} must be a file that only you can read (chmod 600)`)
  return readFileSync(path, 'utf8')
}

/** Publishes the URL of the gateway and its process id to programs of the same user. Returns the undo. */
export function publishAddress(path: string, url: string): () => void {
  writePrivateFile(path, `${url} ${process.pid}\n`)
  return () => rmSync(path, { force: true })
}

/** Returns the published URL if its gateway still runs. */
export function readPublishedAddress(path: string): string | undefined {
  const [url, pid] = readPrivateFile(path)?.trim().split(' ') ?? []
  return url !== undefined && isAlive(Number(pid)) ? url : undefined
}

function isAlive(pid: number): boolean {
  try {
    return Number.isInteger(pid) && pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Allows one gateway per data folder. The lock of an SQLite file is the one lock that Node can take and that the system
 * releases whenever the process dies.
 */
export function lockGatewayHome(path: string): { release(): void } {
  let opened: DatabaseSync | undefined
  try {
    const held = new DatabaseSync(path)
    opened = held
    held.exec(
      'pragma locking_mode = exclusive; begin exclusive; create table if not exists lock (holder); commit',
    )
    // chmod by path: closing a second handle of the file would release the lock.
    chmodSync(path, 0o600)
    return { release: () => held.close() }
  } catch (thrown) {
    opened?.close()
    if (isBusy(thrown)) throw serverError('gateway.running', `another gateway uses ${dirname(path)}/`)
    throw serverError('gateway.setting', `${path} cannot be locked: ${errorText(thrown)}`, {
      hint: 'Move the file away and start again; it contains only the lock.',
      cause: thrown,
    })
  }
}

const SQLITE_BUSY = 5

/** The lowest byte of an extended result code is the primary code. */
function isBusy(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    'errcode' in thrown &&
    typeof thrown.errcode === 'number' &&
    (thrown.errcode & 0xff) === SQLITE_BUSY
  )
}
