import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The program that a coding agent starts for each of its hooks. */
export interface HookClient {
  readonly kind: 'native' | 'node'
  /** Of the client itself, absolute. */
  readonly path: string
  /** What to start, with the arguments of the client behind it. */
  readonly command: readonly string[]
}

export interface ClientPlaces {
  /** Where the platform packages are looked for from. */
  readonly from: string
  /** The root of this package, or of a checkout. */
  readonly root: string
}

const PROGRAM = 'hookhelm-hook'
const here: ClientPlaces = {
  from: import.meta.filename,
  root: join(import.meta.dirname, '..', '..', '..'),
}

/** The best there is: of the platform's package, built in a checkout, or the one that runs on Node. */
export function findClient({ from, root }: ClientPlaces = here): HookClient {
  const candidates = [packaged(from), join(root, 'native', 'build', PROGRAM)]
  const path = candidates.find((candidate) => candidate !== undefined && isExecutable(candidate))
  if (path !== undefined) return { kind: 'native', path, command: [path] }
  const script = join(import.meta.dirname, `${PROGRAM}.cjs`)
  return { kind: 'node', path: script, command: [process.execPath, script] }
}

function packaged(from: string): string | undefined {
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
