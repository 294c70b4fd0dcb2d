import { spawn } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { rotateKeys } from '../../src/app/gateway/storage/encryption-keys.ts'
import { type UpGateway, upGateway } from '../../src/app/gateway/up-gateway.ts'
import { running } from './running.fixture.ts'

// Some start a process of their own.
vi.setConfig({ testTimeout: 120_000 })

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-start-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return home
}

const logged: string[] = []
/** As `hookhelm up` does, on a port of its own. */
async function up(home: string, env: Readonly<Record<string, string>> = {}): Promise<UpGateway> {
  logged.length = 0
  const gateway = await upGateway({
    env: { ...env, HOOKHELM_HOME: home },
    log: (name) => void logged.push(name),
    port: 0,
  })
  onTestFinished(() => gateway.close())
  return gateway
}

/** One start and one end. */
async function used(home: string): Promise<string> {
  const { close, token } = await up(home)
  await close()
  return token
}

const refusedAs = (code: string, hint: RegExp, message = /./) =>
  expect.objectContaining({
    code,
    hint: expect.stringMatching(hint),
    message: expect.stringMatching(message),
  })

async function statusWith({ url }: { url: string }, token: string): Promise<number> {
  return (await fetch(`${url}/v1/hooks`, { headers: { authorization: `Bearer ${token}` } })).status
}

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What a person types; ended as soon as it has said where it listens. */
function hookhelm(args: readonly string[], home: string): Promise<Ran> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/cli/main.ts'), ...args], {
    cwd: home,
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
    if (stdout.includes('Hookhelm is running.')) child.kill('SIGTERM')
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdin.end('{}')
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

test('a revoked admin token stays revoked after a restart, and up says so', async () => {
  const home = newHome()
  const first = await running({ home })
  const made = await first.call('POST', '/v1/call/tokens.create', {
    name: 'other',
    role: 'owner',
    master: true,
  })
  expect(made.status, JSON.stringify(made.body)).toBe(200)
  const { body } = await first.call('POST', '/v1/call/tokens.list', { master: true })
  const admin = body.tokens.find(({ name }: { name: string }) => name === 'admin')
  const revoked = await first.call('POST', '/v1/call/tokens.delete', { tokenId: admin.id, master: true })
  expect(revoked.status, JSON.stringify(revoked.body)).toBe(200)
  await first.close()

  const second = await up(home)
  expect(await statusWith(second, first.token)).toBe(401)
  expect(await statusWith(second, made.body.token)).toBe(200)
  expect(second.isTokenKnown).toBe(false)
  expect(logged).toContain('gateway.admin_token_unknown')
  await second.close()
  const { stdout } = await hookhelm(['up', '--port', '0', '--quiet'], home)
  expect(stdout).toContain('admin-token  (revoked: remove this file to get a new token at the next start)')

  // Whoever owns the folder gets back in with a token of a new start.
  rmSync(join(home, 'admin-token'))
  const third = await up(home)
  expect(await statusWith(third, third.token)).toBe(200)
  expect(third.isTokenKnown).toBe(true)
})

test.each([
  [['up', '--editon', 'standard'], '--editon', 'Did you mean --edition?'],
  [['secret', 'rotate', '--databse', 'postgres://x'], '--databse', 'Did you mean --database?'],
  [['list', '--evnt', 'stop'], '--evnt', 'Did you mean --event?'],
])('an unknown flag of %j is refused with the nearest one', async (args, flag, hint) => {
  const home = newHome()
  const { code, stdout, stderr } = await hookhelm(args, home)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(`there is no flag ${flag}`)
  expect(stderr).toContain(hint)
  expect(readdirSync(home)).toEqual([])
})

test('a database that is gone or empty beside keys and token is not replaced by an empty one', async () => {
  const home = newHome()
  await used(home)
  const file = join(home, 'hookhelm.db')
  truncateSync(file, 0)
  await expect(up(home)).rejects.toThrow(refusedAs('store.corrupt', /backup.*start afresh/, /is empty/))
  rmSync(file)
  await expect(up(home)).rejects.toThrow(refusedAs('store.corrupt', /backup.*start afresh/, /is gone/))
  expect(readdirSync(home)).not.toContain('hookhelm.db')
  rmSync(join(home, 'encryption-keys'))
  rmSync(join(home, 'admin-token'))
  await used(home)
})

test('a token that was put there for the first start is taken', async () => {
  const home = newHome()
  const token = 'x'.repeat(32)
  writeFileSync(join(home, 'admin-token'), token, { mode: 0o600 })
  expect(await statusWith(await up(home), token)).toBe(200)
})

test('an empty admin-token file is filled, and one that holds no token is refused', async () => {
  const home = newHome()
  const file = join(home, 'admin-token')
  writeFileSync(file, '\n', { mode: 0o600 })
  const gateway = await up(home)
  expect(readFileSync(file, 'utf8')).toBe(`${gateway.token}\n`)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await statusWith(gateway, gateway.token)).toBe(200)
  await gateway.close()
  for (const bad of ['short', 'two words that are longer than thirty-two', 'é'.repeat(40)]) {
    writeFileSync(file, bad)
    await expect(up(home)).rejects.toThrow(
      refusedAs('gateway.setting', /32 printable/, /does not contain a valid token/),
    )
  }
  writeFileSync(file, gateway.token)
  const again = await running({ home })
  const { body } = await again.call('POST', '/v1/call/tokens.list', { master: true })
  expect(body.tokens).toHaveLength(1)
})

test('an empty admin-token file does not open the network', async () => {
  const home = newHome()
  writeFileSync(join(home, 'admin-token'), '', { mode: 0o600 })
  const options = { env: { HOOKHELM_HOME: home }, log: () => {}, host: '0.0.0.0', port: 0 }
  await expect(upGateway(options)).rejects.toThrow(expect.objectContaining({ code: 'gateway.exposed' }))
})

const starts: readonly [string, (home: string) => void, ReturnType<typeof refusedAs>][] = [
  [
    'config.yaml is a directory',
    (home) => mkdirSync(join(home, 'config.yaml')),
    refusedAs('gateway.setting', /readable file/, /config\.yaml cannot be read/),
  ],
  [
    'a name server is no address',
    (home) => writeFileSync(join(home, 'config.yaml'), 'outbound:\n  dns: ["notanip"]\n'),
    refusedAs('config.field', /docs\/gateway\.md/, /config\.yaml:2:10 .*must be an IP address/),
  ],
  [
    'a value of config.yaml is of the wrong kind',
    (home) => writeFileSync(join(home, 'config.yaml'), 'hosts: 7\n'),
    refusedAs('config.field', /docs\/gateway\.md/, /hosts must be a list/),
  ],
  [
    'the database is of another kind',
    (home) => writeFileSync(join(home, 'config.yaml'), 'database: mysql://u:secret@h/d\n'),
    refusedAs('gateway.setting', /postgres:\/\/…/, /^(?!.*secret)/),
  ],
  [
    'lock.db is a directory',
    (home) => mkdirSync(join(home, 'lock.db')),
    refusedAs('gateway.setting', /contains only the lock/, /lock\.db cannot be locked/),
  ],
  [
    'lock.db is no database',
    (home) => writeFileSync(join(home, 'lock.db'), 'x'.repeat(8_192)),
    refusedAs('gateway.setting', /contains only the lock/, /lock\.db cannot be locked/),
  ],
  [
    'the address to listen on is none',
    (home) => writeFileSync(join(home, 'admin-token'), 'x'.repeat(32), { mode: 0o600 }),
    refusedAs('gateway.setting', /--host/, /cannot listen on 999\.1\.1\.1 port 0/),
  ],
]

test.each(starts)('a start is refused with a code and a hint when %s', async (name, prepare, refused) => {
  const home = newHome()
  prepare(home)
  const host = name.startsWith('the address') ? { host: '999.1.1.1' } : {}
  const options = { env: { HOOKHELM_HOME: home }, log: () => {}, port: 0, ...host }
  await expect(upGateway(options)).rejects.toThrow(refused)
})

test('a start is refused with a code and a hint when the collector has no address', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'not an address' }
  await expect(up(newHome(), env)).rejects.toThrow(refusedAs('gateway.setting', /http:\/\/host:4318/))
  await up(newHome(), { OTEL_EXPORTER_OTLP_ENDPOINT: '' })
})

test('a port that is taken is named', async () => {
  const other = createServer()
  const port = await new Promise<number>((resolve) =>
    other.listen(0, '127.0.0.1', () => resolve(Number(Object(other.address()).port))),
  )
  onTestFinished(() => void other.close())
  const options = { env: { HOOKHELM_HOME: newHome() }, log: () => {}, port }
  await expect(upGateway(options)).rejects.toThrow(
    refusedAs('gateway.running', /--port/, new RegExp(`127\\.0\\.0\\.1 port ${port}`)),
  )
})

test('a lock that is held says so, whoever asks', async () => {
  const home = newHome()
  await up(home)
  const held = expect.objectContaining({ code: 'gateway.running' })
  await expect(up(home)).rejects.toThrow(held)
  await expect(rotateKeys({ env: { HOOKHELM_HOME: home }, log: () => {} })).rejects.toThrow(held)
  expect(statSync(join(home, 'lock.db')).mode & 0o777).toBe(0o600)
})

test('a run folder that a copy left open to others is closed', async () => {
  const home = newHome()
  mkdirSync(join(home, 'run'))
  chmodSync(join(home, 'run'), 0o755)
  await up(home)
  expect(statSync(join(home, 'run')).mode & 0o777).toBe(0o700)
})

test('a config.yaml without a setting is an empty one', async () => {
  for (const content of ['', '\n\n', '# nothing yet\n  # at all\n']) {
    const home = newHome()
    writeFileSync(join(home, 'config.yaml'), content)
    await used(home)
  }
})

test('a problem of config.yaml is told with its hint once', async () => {
  const home = newHome()
  writeFileSync(join(home, 'config.yaml'), 'hosts: 7\n')
  const { code, stderr } = await hookhelm(['up', '--port', '0'], home)
  expect(code).toBe(1)
  expect(stderr.match(/docs\/gateway\.md/g)).toHaveLength(1)
})
