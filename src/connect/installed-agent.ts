import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { AgentHost, HostEnvironment } from '../agents/agent-host.ts'
import { after } from '../engine/core/after.ts'
import { systemClock } from '../engine/core/clock.ts'
import { childEnvironment } from '../safe/process/child-environment.ts'
import { runProcess } from '../safe/process/run-process.ts'

export interface InstalledAgent {
  /** The program that starts the agent, if it is in PATH. */
  readonly program?: string
  /** Whether the agent's own folder exists. */
  readonly hasFolder: boolean
}

/** Looks for an agent on this machine. Returns undefined if neither its program nor its folder exists. */
export function findInstalled(host: AgentHost, env: HostEnvironment): InstalledAgent | undefined {
  const program = host.programs.map((name) => findInPath(name, env)).find((path) => path !== undefined)
  const hasFolder = statSync(host.home(env), { throwIfNoEntry: false })?.isDirectory() === true
  if (program === undefined && !hasFolder) return undefined
  return { hasFolder, ...(program === undefined ? {} : { program }) }
}

function findInPath(name: string, env: HostEnvironment): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => isAbsolute(folder))
  return folders.map((folder) => join(folder, name)).find(isExecutableFile)
}

export function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Some agents need seconds to print their version. */
const TIMEOUT_MS = 15_000

/** The version that the agent's program prints, or undefined if it prints none. */
export async function programVersion(program: string, env: HostEnvironment): Promise<string | undefined> {
  const abort = new AbortController()
  const cancelTimeout = after(systemClock, TIMEOUT_MS, () => abort.abort())
  try {
    const spec = { argv: [program, '--version'], env: childEnvironment([], {}, env) }
    const { exitCode, stdout } = await runProcess(spec, abort.signal)
    return exitCode === 0 ? /\d+\.\d+[\w.-]*/.exec(stdout)?.[0] : undefined
  } catch {
    return undefined
  } finally {
    cancelTimeout()
  }
}
