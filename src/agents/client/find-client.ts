import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { serverError } from '../../engine/core/errors/server-errors.ts'

/** The program that a coding agent starts for each of its hooks. */
export interface HookClient {
  readonly kind: 'native' | 'node'
  /** Absolute path of the client. */
  readonly path: string
  /** The command that starts it. The client's arguments follow. */
  readonly command: readonly string[]
}

export interface ClientSearch {
  /** The module from which the platform packages are resolved. */
  readonly from: string
  /** The root of this package or checkout. */
  readonly root: string
}

const PROGRAM = 'hookhelm-hook'
const defaultSearch: ClientSearch = {
  from: import.meta.filename,
  root: join(import.meta.dirname, '..', '..', '..'),
}

/** Finds the fastest client: from the platform's package, then a local build, then the one that runs on Node. */
export function findClient({ from, root }: ClientSearch = defaultSearch): HookClient {
  const candidates = [packagedClient(from), join(root, 'native', 'build', PROGRAM)]
  const path = candidates.find((candidate) => candidate !== undefined && isExecutable(candidate))
  return path === undefined ? nodeClient() : { kind: 'native', path, command: [path] }
}

/** The client of the given kind. Throws `connect.agent` if there is no native client for this machine. */
export function chooseClient(kind: HookClient['kind'] | undefined): HookClient {
  const client = kind === 'node' ? nodeClient() : findClient()
  if (kind === undefined || client.kind === kind) return client
  throw serverError('connect.agent', 'there is no native client for this machine', {
    hint: 'Build it with `npm run build:native`, or omit --client.',
  })
}

function nodeClient(): HookClient {
  const path = join(import.meta.dirname, `${PROGRAM}.cjs`)
  return { kind: 'node', path, command: [process.execPath, path] }
}

function packagedClient(from: string): string | undefined {
  const name = `@hookhelm/client-${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(from).resolve(`${name}/package.json`)), 'bin', PROGRAM)
  } catch {
    return undefined
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
