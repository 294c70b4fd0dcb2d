import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { HostPaths } from '../../src/agents/agent-host.ts'

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A home folder with a project in it, gone when the test is over. */
export interface TemporaryHome {
  readonly folder: string
  readonly project: string
  readonly dataFolder: string
  readonly paths: HostPaths
  path(...parts: readonly string[]): string
  write(path: string, text: string): string
  read(path: string): string
  exists(path: string): boolean
  /** Every file below, by its path. */
  files(below?: string): string[]
  /** A command line of `hookhelm`, as a process of its own. */
  hookhelm(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>
}

export function temporaryHome(name = 'hookhelm-home-'): TemporaryHome {
  const folder = mkdtempSync(join(tmpdir(), name))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const project = join(folder, 'project')
  mkdirSync(join(project, '.git'), { recursive: true })
  const dataFolder = join(folder, 'data')
  const env = { PATH: process.env.PATH, HOME: folder, HOOKHELM_HOME: dataFolder, NO_COLOR: '1' }
  const path = (...parts: readonly string[]) => join(folder, ...parts)
  return {
    folder,
    project,
    dataFolder,
    paths: { env, project, system: join(folder, 'system') },
    path,
    write(file, text) {
      mkdirSync(dirname(path(file)), { recursive: true })
      writeFileSync(path(file), text)
      return path(file)
    },
    read: (file) => readFileSync(path(file), 'utf8'),
    exists: (file) => existsSync(path(file)),
    files: (below = '') =>
      existsSync(path(below))
        ? readdirSync(path(below), { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
            .sort()
        : [],
    hookhelm: (args, more = {}) =>
      run(args, project, { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env, ...more }),
  }
}

function run(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  const main = join(import.meta.dirname, '../../src/cli/main.ts')
  const child = spawn(process.execPath, [main, ...args], { cwd, env })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdin.end()
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}
