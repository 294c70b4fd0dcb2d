import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./store-child.fixture.ts', import.meta.url))

/** Runs a task of store-child.fixture.ts. Returns the lines it printed and the signal that ended it. */
export async function runChild(
  what: string,
  file: string,
  options: { readonly argument?: string; readonly fileKib?: number } = {},
): Promise<{ readonly lines: readonly string[]; readonly signal: string | null }> {
  const command = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    script,
    what,
    file,
    options.argument ?? '',
  ]
  // A write past the limit fails instead of killing the process.
  const limit = options.fileKib === undefined ? '' : `trap '' XFSZ; ulimit -f ${options.fileKib}; `
  const child = spawn('bash', ['-c', `${limit}exec "$@"`, 'bash', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<string | null>((resolve) => child.on('exit', (_, signal) => resolve(signal)))
  const [said, signal] = await Promise.all([text(child.stdout), ended])
  return { lines: said.split('\n').filter(Boolean), signal }
}
