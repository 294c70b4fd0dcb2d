import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { onTestFinished } from 'vitest'
import type { Running } from '../gateway/running.fixture.ts'

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))
export const filesServerArgv = [process.execPath, path('files-server.ts')]
/** The same tools, made with the packages of 2026. */
export const statelessServerArgv = [process.execPath, path('stateless-files-server.ts')]
export const proxyMain = path('proxy-main.ts')

type WhenDone = (end: () => void) => void

/** A folder of its own, gone when the test is over. */
export function folder(whenDone: WhenDone = onTestFinished): string {
  const made = mkdtempSync(join(tmpdir(), 'hookhelm-mcp-'))
  whenDone(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const script = (body: string) => ({
  handler_type: 'script',
  config: { source: `function handle(event) { ${body} }` },
})

/** What the hooks of these tests do, by tool and by what stands in its arguments. */
export async function addHooks(gateway: Running): Promise<void> {
  await gateway.hook({
    event: 'pre_tool_use',
    matcher: '^mcp__files__(write_file|later|sign)$',
    ...script(`
      var path = event.toolInput.path
      if (/forbidden/.test(path)) return { decision: 'block', reason: 'not there' }
      if (/asks/.test(path)) return { decision: 'ask', reason: 'may it write?' }
      if (/rewrite/.test(path)) return { decision: 'allow', updatedInput: { path: path, text: 'rewritten' } }
      if (/context/.test(path)) return { decision: 'allow', additionalContext: 'files are backed up' }
      if (/who/.test(path)) return { decision: 'block', reason: JSON.stringify([event.agent_name, event.tool_use_id]) }
      return { decision: 'allow' }`),
  })
  await gateway.hook({
    event: 'pre_tool_use',
    matcher: '^mcp__.*__forbidden$',
    ...script(`return { decision: 'block', reason: 'not this one' }`),
  })
  await gateway.hook({
    event: 'pre_tool_use',
    matcher: '^mcp__slow__',
    handler_type: 'command',
    timeout_ms: 10_000,
    config: { command: 'sleep 30' },
  })
  await gateway.hook({
    event: 'post_tool_use',
    matcher: '^mcp__.*__(read_secret|later|call|picture|unknown)$',
    transform: true,
    ...script(`
      var text = JSON.stringify(event.tool_response).replace(/hunter2/g, '[gone]')
      var output = JSON.parse(text)
      if (event.toolName.indexOf('picture') > 0) output.content.push({ type: 'text', text: output.content[0].data })
      return { decision: 'allow', updatedInput: output }`),
  })
  await gateway.hook({
    event: 'post_tool_use_failure',
    matcher: '^mcp__files__fail$',
    ...script(`return { decision: 'allow', additionalContext: 'heard: ' + event.error }`),
  })
}

export interface Proxied {
  readonly client: Client
  readonly transport: StdioClientTransport
  /** What the proxy and the server wrote to stderr. */
  stderr(): string
}

interface ProxyOptions {
  readonly args?: readonly string[]
  readonly server?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly client?: ClientOptions
  /** Before it connects. */
  readonly prepare?: (client: Client) => void
}

/** The official client, through the proxy, to a real server. */
export function proxied(gateway: Pick<Running, 'socket'>, options: ProxyOptions = {}): Promise<Proxied> {
  const { args = [], server = filesServerArgv } = options
  const socket = args.some((arg) => arg === '--local' || arg === '--url' || arg === '--socket')
    ? []
    : ['--socket', gateway.socket ?? '']
  return connected([process.execPath, proxyMain, ...socket, ...args, '--', ...server], options)
}

/** The transport gives a program few variables of this process, and not the one that makes it start sooner. */
export function childEnv(more: Readonly<Record<string, string>>): Record<string, string> {
  return { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '', XDG_STATE_HOME: folder(), ...more }
}

/** The same client without a proxy. */
export function direct(options: ProxyOptions = {}): Promise<Proxied> {
  return connected(options.server ?? filesServerArgv, options)
}

async function connected(
  [command = '', ...args]: readonly string[],
  { env = {}, client: clientOptions, prepare }: ProxyOptions,
): Promise<Proxied> {
  const transport = new StdioClientTransport({ command, args, env: childEnv(env), stderr: 'pipe' })
  let text = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    text += chunk
  })
  const client = new Client({ name: 'test-client', version: '1.2.3' }, clientOptions)
  prepare?.(client)
  onTestFinished(() => client.close())
  await client.connect(transport)
  return { client, transport, stderr: () => text }
}

export interface RawProxy {
  readonly child: ChildProcess
  send(line: string | Buffer): void
  /** The next line that the client gets. */
  next(): Promise<string>
  /** The lines that the server got. */
  received(): string[]
  /** Where the server keeps them; missing until it gets the first. */
  readonly receivedFile: string
  readonly exited: Promise<number | null>
}

export const HELLO = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"raw"}}}'

/** The proxy in front of a server that keeps what it gets, spoken to without a library. */
export function rawProxy(
  gateway: Pick<Running, 'socket'>,
  args: readonly string[] = [],
  server?: readonly string[],
  whenDone: WhenDone = onTestFinished,
): RawProxy {
  const file = join(folder(whenDone), 'received')
  const argv = server ?? [process.execPath, path('mirror-server.ts'), file]
  const all = [proxyMain, '--socket', gateway.socket ?? '', ...args, '--', ...argv]
  const env = { ...process.env, XDG_STATE_HOME: folder(whenDone) }
  const child = spawn(process.execPath, all, { stdio: ['pipe', 'pipe', 'inherit'], env })
  whenDone(() => void child.kill('SIGKILL'))
  child.stdin.on('error', () => {})
  const lines: string[] = []
  const waiting: ((line: string) => void)[] = []
  let kept = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (kept + chunk).split('\n')
    kept = parts.pop() ?? ''
    for (const line of parts) {
      const take = waiting.shift()
      if (take === undefined) lines.push(line)
      else take(line)
    }
  })
  return {
    child,
    send(line) {
      child.stdin.write(line)
      child.stdin.write('\n')
    },
    next() {
      const line = lines.shift()
      return line === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(line)
    },
    receivedFile: file,
    received: () => readFileSync(file, 'utf8').split('\n').slice(0, -1),
    exited: new Promise((resolve) => child.once('exit', (code) => resolve(code))),
  }
}
