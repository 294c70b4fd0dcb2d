import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Environment, Host } from './host.ts'

export interface Installed {
  /** The program that starts it, where it is in PATH. */
  readonly program?: string
  /** Its folder is there. */
  readonly hasFolder: boolean
}

/** Whether an agent is on this machine; nothing when there is no sign of it. */
export function installed(host: Host, env: Environment): Installed | undefined {
  const program = host.programs.map((name) => inPath(name, env)).find((path) => path !== undefined)
  const hasFolder = isFolder(host.home(env))
  if (program === undefined && !hasFolder) return undefined
  return { hasFolder, ...(program === undefined ? {} : { program }) }
}

function inPath(name: string, env: Environment): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder))
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
