import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { dataFolder } from '../../config/hook-folders.ts'
import { errorText } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Where a gateway keeps what is its own. */
export interface Home {
  readonly folder: string
  readonly database: string
  readonly config: string
  readonly keys: string
  readonly token: string
  readonly lock: string
  /** Where the gateway of this folder listens, while it runs. */
  readonly address: string
  /** What agents leave while no gateway answers. */
  readonly spool: string
}

export function homeOf(env: Environment): Home {
  const folder = dataFolder(env)
  return {
    folder,
    database: join(folder, 'hookhelm.db'),
    config: join(folder, 'config.yaml'),
    keys: join(folder, 'encryption-keys'),
    token: join(folder, 'admin-token'),
    lock: join(folder, 'lock.db'),
    address: join(folder, 'address'),
    spool: join(folder, 'spool'),
  }
}

/** Makes the folder, for its owner alone. */
export function makeHome({ folder }: Home): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = lstatSync(folder)
    if (process.getuid !== undefined && uid !== process.getuid()) throw new Error(`it belongs to user ${uid}`)
    if ((mode & 0o077) !== 0) chmodSync(folder, 0o700)
  } catch (thrown) {
    throw serverError('gateway.setting', `${folder} cannot be used: ${errorText(thrown)}`)
  }
}

/** The text of a file that only its owner may read, or nothing. */
export function readPrivate(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if (!found.isFile() || (found.mode & 0o077) !== 0)
    throw serverError('gateway.setting', `${path} must be a file that only you can read (chmod 600)`)
  return readFileSync(path, 'utf8')
}

/** Writes a file for its owner alone, in one step: a crash leaves what was there before, or the whole of the new text. */
export function writePrivate(path: string, text: string): void {
  const fresh = `${path}.new`
  rmSync(fresh, { force: true })
  const file = openSync(fresh, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(fresh, path)
}
