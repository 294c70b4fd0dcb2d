import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { AgentHost, HostEnvironment } from '../agents/agent-host.ts'
import { after } from '../engine/core/time/after.ts'
import { systemClock } from '../engine/core/time/clock.ts'
import { childEnvironment } from '../safe/process/child-environment.ts'
import { runProcess } from '../safe/process/run-process.ts'

/**
 * The program that starts an agent: in PATH, or where its installer or a package manager puts it. The agent's folder
 * proves nothing, because `connect` writes into it.
 */
export function findProgram(
  { programs, installFolders = [] }: AgentHost,
  env: HostEnvironment,
): string | undefined {
  const { PATH = '', HOME } = env
  const below =
    HOME === undefined ? [] : [...installFolders, ...COMMON_FOLDERS].map((folder) => join(HOME, folder))
  const folders = [...PATH.split(delimiter), ...below, ...SYSTEM_FOLDERS].filter((folder) =>
    isAbsolute(folder),
  )
  return programs.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutableFile)
}

/** Folders below the home folder where package managers put programs. */
const COMMON_FOLDERS = [
  '.local/bin',
  '.npm-global/bin',
  '.bun/bin',
  '.volta/bin',
  'Library/pnpm',
  '.local/share/pnpm',
]
const SYSTEM_FOLDERS = ['/usr/local/bin', '/opt/homebrew/bin', '/usr/bin']

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
