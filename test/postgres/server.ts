import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { copyBinaries } from './binaries.ts'

/** Where a running server is and how to be its superuser; plain data, so that it can go to another process. */
export interface ServerAddress {
  readonly binaries: string
  readonly port: number
  readonly socketDir: string
  readonly password: string
}

export interface PostgresServer extends ServerAddress {
  /** `fast` ends every session, `immediate` is a crash. */
  stop(how?: 'fast' | 'immediate'): Promise<void>
  /** On the same port, with the same data. */
  start(): Promise<void>
  /** Stops it and removes everything it had. */
  remove(): Promise<void>
}

const STOP_SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const
const asRoot = process.getuid?.() === 0
/** PostgreSQL refuses to run as root. This is `nobody` nearly everywhere, and where it is not it is nobody as well. */
const OTHER_USER = 65_534
const user = asRoot ? { uid: OTHER_USER, gid: OTHER_USER } : {}

/** A server of one's own, with a password, on a free port of the loopback and on a socket. */
export async function startServer(
  given: { binaries?: string; settings?: readonly string[] } = {},
): Promise<PostgresServer> {
  // Root's TMPDIR may lie in its home, where nobody else can go.
  const home = mkdtempSync(join(asRoot ? '/tmp' : tmpdir(), 'hookhelm-pg-'))
  chmodSync(home, 0o755)
  const binaries = given.binaries ?? copyBinaries(join(home, 'native'))
  const [data, socketDir] = [join(home, 'data'), join(home, 'socket')]
  for (const folder of [data, socketDir]) {
    mkdirSync(folder, { mode: 0o700 })
    if (asRoot) chownSync(folder, OTHER_USER, OTHER_USER)
  }
  const password = randomBytes(12).toString('hex')
  await makeCluster({ binaries, data, password, home })
  const port = await freePort()
  const address = { binaries, port, socketDir, password }
  // The system keeps what a killed server had written. Only a power cut would show the difference, and waiting for the disk
  // makes each dropped database cost seconds.
  const settings = ['max_connections=60', 'fsync=off', ...(given.settings ?? [])]
  let running: ChildProcess | undefined
  const server: PostgresServer = {
    ...address,
    async start() {
      running = launch({ ...address, data, log: join(home, 'log'), settings })
      await answering(address, running, join(home, 'log'))
    },
    async stop(how = 'fast') {
      const child = running
      running = undefined
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(STOP_SIGNALS[how])
      await ended
    },
    async remove() {
      await server.stop('immediate')
      rmSync(home, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

async function makeCluster(cluster: { binaries: string; data: string; password: string; home: string }) {
  const secret = join(cluster.home, 'secret')
  writeFileSync(secret, cluster.password, { mode: 0o600 })
  if (asRoot) chownSync(secret, OTHER_USER, OTHER_USER)
  // Only making the empty cluster goes without waiting for the disk.
  const options = [
    '-D',
    cluster.data,
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--no-locale',
    '--no-sync',
    '-A',
    'scram-sha-256',
  ]
  await promisify(execFile)(join(cluster.binaries, 'initdb'), [...options, `--pwfile=${secret}`], {
    ...user,
    cwd: cluster.home,
    env: {},
  })
  rmSync(secret)
}

function launch(
  at: ServerAddress & { data: string; log: string; settings: readonly string[] },
): ChildProcess {
  const log = openSync(at.log, 'a')
  const settings = [
    `port=${at.port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${at.socketDir}`,
    ...at.settings,
  ]
  const child = spawn(
    join(at.binaries, 'postgres'),
    ['-D', at.data, ...settings.flatMap((setting) => ['-c', setting])],
    {
      ...user,
      cwd: at.data,
      env: {},
      stdio: ['ignore', log, log],
    },
  )
  // A run that dies without its teardown leaves no server behind.
  const end = () => child.kill(STOP_SIGNALS.immediate)
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  return child
}

async function answering(address: ServerAddress, child: ChildProcess, log: string): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (child.exitCode !== null) break
    const client = new pg.Client(superuserUrl(address))
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return
    } catch {
      await sleep(25)
    }
  }
  throw new Error(`PostgreSQL did not start: ${readFileSync(log, 'utf8').slice(-2000)}`)
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  await new Promise((done) => probe.close(done))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

export function superuserUrl(address: ServerAddress, database = 'postgres'): string {
  return `postgres://postgres:${address.password}@127.0.0.1:${address.port}/${database}`
}
