import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Running, running } from '../gateway/running.fixture.ts'

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A running gateway with a repository beside it, and the command line of its user. */
export interface Inspected extends Running {
  readonly repository: string
  hookhelm(...args: readonly string[]): Promise<Ran>
  /** An event of Claude Code in the repository. */
  native(event: string, payload: Readonly<Record<string, unknown>>): Promise<unknown>
}

export async function inspected(options: Parameters<typeof running>[0] = {}): Promise<Inspected> {
  const gateway = await running(options)
  const repository = join(gateway.home, 'repository')
  mkdirSync(join(repository, '.git'), { recursive: true })
  return {
    ...gateway,
    repository,
    hookhelm: (...args) => runCli(args, { home: gateway.home, cwd: repository }),
    async native(event, payload) {
      const base = { session_id: 's1', cwd: repository, hook_event_name: event }
      const { body } = await gateway.call('POST', `/v1/agents/claude-code/${event}`, { ...base, ...payload })
      return body
    },
  }
}

export function runCli(
  args: readonly string[],
  { home, cwd }: { readonly home: string; readonly cwd: string },
): Promise<Ran> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/cli/main.ts'), ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: home,
      HOOKHELM_HOME: home,
      NO_COLOR: '1',
    },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}
