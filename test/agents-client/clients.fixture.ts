import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import {
  bestFlavours,
  compileBest,
  compileClient,
  findCompiler,
} from '../../scripts/native/compile-client.ts'

export interface Client {
  readonly name: string
  readonly isNative: boolean
  readonly command: readonly string[]
}

const root = join(import.meta.dirname, '..', '..')
const compiler = findCompiler()

export const nodeClient: Client = {
  name: 'node',
  isNative: false,
  command: [process.execPath, join(root, 'src/agents/client/hookhelm-hook.cjs')],
}
export const nativeClient: Client | undefined = build('best')
/** Every read and write beyond what was set aside ends it, and so does whatever C leaves undefined. */
export const sanitizedClient: Client | undefined = build('sanitized')
/** What each test is run against. */
export const clients: readonly Client[] =
  nativeClient === undefined ? [nodeClient] : [nativeClient, nodeClient]

/** Built once, until the source changes. */
function build(which: 'best' | 'sanitized'): Client | undefined {
  if (compiler === undefined) {
    process.stderr.write('NO C COMPILER: THE NATIVE CLIENT IS NOT TESTED\n')
    return undefined
  }
  const sources = [
    'native/hookhelm-hook.c',
    'native/no-libc.c',
    'scripts/native/compile-client.ts',
    'package.json',
  ]
  const stamp = createHash('sha256')
  for (const file of sources) stamp.update(readFileSync(join(root, file)))
  const path = join(root, 'node_modules/.cache/hookhelm', `client-${stamp.digest('hex').slice(0, 16)}`, which)
  if (!existsSync(path)) {
    if (which === 'best') compileBest(compiler, path)
    else compileClient(compiler, 'sanitized', path)
  }
  const name = which === 'best' ? `native (${bestFlavours()[0]})` : 'native (sanitized)'
  return { name, isNative: true, command: [path] }
}

export interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface Started {
  readonly pid: number
  readonly ended: Promise<Ended>
  kill(signal: NodeJS.Signals): void
  write(bytes: string | Uint8Array): void
  /** It has begun to take its stdin, more of which is to come. */
  isReading(): Promise<void>
  /** Stdin is at its end. */
  end(): void
  /** Nobody reads stdout any more. */
  closeStdout(): Promise<void>
}

export function start(client: Client, args: readonly string[], cwd?: string): Started {
  const [program = '', ...more] = client.command
  const child = spawn(program, [...more, ...args], { stdio: 'pipe', ...(cwd === undefined ? {} : { cwd }) })
  child.stdin.on('error', () => {})
  const ended = Promise.all([
    new Promise<Pick<Ended, 'code' | 'signal'>>((resolve) =>
      child.once('exit', (code, signal) => resolve({ code, signal })),
    ),
    textOf(child.stdout),
    textOf(child.stderr),
  ]).then(([exit, stdout, stderr]) => ({ ...exit, stdout, stderr }))
  return {
    pid: child.pid ?? 0,
    ended,
    kill: (signal) => child.kill(signal),
    write: (bytes) => child.stdin.write(bytes),
    isReading: () =>
      // More than lies between two processes: it is gone when the other one has read some of it.
      new Promise((resolve) => child.stdin.write(`{"a":"${'x'.repeat(2 << 20)}`, () => resolve())),
    end: () => child.stdin.end(),
    closeStdout: () =>
      new Promise((resolve) => {
        child.stdout.once('close', resolve)
        child.stdout.destroy()
      }),
  }
}

export function run(
  client: Client,
  args: readonly string[],
  payload: string | Uint8Array = '{}',
): Promise<Ended> {
  const started = start(client, args)
  started.write(payload)
  started.end()
  return started.ended
}

function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return new Promise((resolve) => stream.once('close', () => resolve(Buffer.concat(chunks).toString())))
}
