import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import { pluginFiles as openclawFiles } from '../../src/agents/openclaw/files.ts'
import { pluginFiles as opencodeFiles } from '../../src/agents/opencode/files.ts'
import type { PluginSettings } from '../../src/agents/plugin/settings.ts'

export interface Place {
  readonly folder: string
  readonly settings: PluginSettings
  spooled(): readonly Spooled[]
}

interface Spooled {
  readonly agent: string
  readonly event: string
  readonly at: number
  readonly why: string
  readonly blocked?: true
  readonly opened?: true
  readonly native: unknown
}

/** A folder of our own with room for a socket and for what is left on disk. */
export function place(agent: string, more: Partial<PluginSettings> = {}): Place {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-plugin-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const spool = join(folder, 'spool')
  const socket = join(folder, 'gateway.sock')
  const settings = { agent, version: '0.1.0', socket, spool, within: 5_000, failOpen: false, ...more }
  const spooled = () => {
    try {
      return readdirSync(spool).map((name): Spooled => JSON.parse(readFileSync(join(spool, name), 'utf8')))
    } catch {
      return []
    }
  }
  return { folder, settings, spooled }
}

export interface Asked {
  readonly id: number
  readonly event: string
  readonly within_ms: number
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it sent
  readonly native: any
}

export interface Wire {
  /** An answer to this question. */
  reply(value: unknown): void
  line(value: unknown): void
  raw(text: string | Uint8Array): void
  readonly socket: Socket
}

export interface Scripted {
  readonly hellos: unknown[]
  readonly asked: Asked[]
  /** Ends every connection, and listens no more. */
  stop(): Promise<void>
}

/** A gateway that does as it is told: `answer` gets each question. */
export async function gateway(
  { settings }: Pick<Place, 'settings'>,
  answer: (asked: Asked, wire: Wire) => void,
): Promise<Scripted> {
  const hellos: unknown[] = []
  const asked: Asked[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    let rest = ''
    let isGreeted = false
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const value = JSON.parse(line)
        if (!isGreeted) hellos.push(value)
        else {
          asked.push(value)
          answer(value, wireOf(socket, value))
        }
        isGreeted = true
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(settings.socket, resolve))
  const stop = () => close(server, sockets)
  onTestFinished(stop)
  return { hellos, asked, stop }
}

function wireOf(socket: Socket, { id }: Asked): Wire {
  const line = (value: unknown) => socket.write(`${JSON.stringify(value)}\n`)
  return { socket, line, reply: (reply) => line({ id, reply }), raw: (text) => socket.write(text) }
}

function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    for (const socket of sockets) socket.destroy()
  })
}

const files = { opencode: opencodeFiles, openclaw: openclawFiles }
let copies = 0

/** Writes the plugin as `connect` does, and answers where its main file is. */
export function install({ folder, settings }: Place): string {
  copies += 1
  const target = join(folder, `plugin-${copies}`)
  const written = files[settings.agent === 'opencode' ? 'opencode' : 'openclaw'](settings)
  for (const { path, text } of [{ path: 'package.json', text: '{"type":"module"}' }, ...written]) {
    mkdirSync(dirname(join(target, path)), { recursive: true })
    writeFileSync(join(target, path), text)
  }
  return join(target, written.at(-1)?.path ?? '')
}

type Hook = (input: unknown, output?: unknown) => Promise<void>

/** OpenCode as far as the plugin sees it. */
export async function opencode(where: Place, client?: object): Promise<Readonly<Record<string, Hook>>> {
  const { Hookhelm } = await import(/* @vite-ignore */ pathToFileURL(install(where)).href)
  return Hookhelm({ directory: '/home/user/project', client })
}

// biome-ignore lint/suspicious/noExplicitAny: what OpenClaw's handlers answer differs from one to the next
type Handler = (event: unknown, ctx: unknown) => any

interface Host {
  readonly handlers: Readonly<Record<string, Handler>>
  readonly options: Readonly<Record<string, { timeoutMs?: number } | undefined>>
}

/** OpenClaw as far as the plugin sees it. The middleware is among the handlers as `agent_tool_result`. */
export async function openclaw(where: Place, unknown: readonly string[] = []): Promise<Host> {
  const isFirst = !existsSync(join(where.folder, 'plugin-loaded'))
  writeFileSync(join(where.folder, 'plugin-loaded'), '')
  // Each test is a process of its own to it.
  if (isFirst) Reflect.deleteProperty(process, Symbol.for('hookhelm.openclaw'))
  const { default: plugin } = await import(/* @vite-ignore */ pathToFileURL(install(where)).href)
  const handlers: Record<string, Handler> = {}
  const options: Record<string, { timeoutMs?: number } | undefined> = {}
  plugin.register({
    on(name: string, handler: Handler, how?: { timeoutMs?: number }) {
      if (unknown.includes(name)) throw new Error(`unknown hook ${name}`)
      handlers[name] = handler
      options[name] = how
    },
    registerAgentToolResultMiddleware(handler: Handler) {
      handlers.agent_tool_result = handler
    },
  })
  return { handlers, options }
}
