import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clients, run, start } from './clients.fixture.ts'
import { args, fakeGateway, ownFolder, replyLine, saying } from './fake-gateway.fixture.ts'

const nowhere = '/nowhere/"\\gateway.sock'
const why = `no gateway listens at ${nowhere}; start it with "hookhelm up"`
const down = { code: 'gateway.unreachable' }

describe.each(clients)('$name: 4.12 #160 the spool', (client) => {
  test('keeps an observation that could not be delivered, for its owner alone', async () => {
    const spool = join(ownFolder(), 'spool')
    const begun = Date.now()
    const started = start(client, [
      'codex',
      'PostToolUse',
      '--socket',
      nowhere,
      '--spool',
      spool,
      '--observe',
    ])
    started.write('{"tool":"Bash",\n"out":"ä"}\n')
    started.end()
    expect(await started.ended).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
    const [file = '', ...others] = readdirSync(spool)
    expect(others).toEqual([])
    expect(file).toMatch(new RegExp(`^\\d{13}-${started.pid}\\.json$`))
    expect(statSync(join(spool, file)).mode & 0o777).toBe(0o600)
    expect(statSync(spool).mode & 0o777).toBe(0o700)
    const text = readFileSync(join(spool, file), 'utf8')
    const { at, ...kept } = JSON.parse(text)
    expect(kept).toEqual({
      agent: 'codex',
      event: 'PostToolUse',
      why,
      ...down,
      native: { tool: 'Bash', out: 'ä' },
    })
    expect(Object.keys(JSON.parse(text))).toEqual(['agent', 'event', 'at', 'why', 'code', 'native'])
    expect(`${at}-${started.pid}.json`).toBe(file)
    expect(at).toBeGreaterThanOrEqual(begun)
    expect(text.split('\n')).toHaveLength(2)
  })

  test.each([
    ['a closed gate', [], 2, { blocked: true }],
    ['a gate that was let go on', ['--fail-open'], 0, { opened: true }],
    ['a permission that was denied', ['--refuse', 'permission'], 0, { blocked: true }],
  ] as const)('knows of %s', async (_, more, code, mark) => {
    const spool = join(ownFolder(), 'spool')
    expect((await run(client, args(nowhere, '--spool', spool, ...more), '{"a":1}')).code).toBe(code)
    expect(spooled(spool)).toMatchObject([{ ...mark, ...down, why, native: { a: 1 } }])
    expect(Object.keys(spooled(spool)[0] ?? {})).toHaveLength(7)
  })

  test('knows of an answer that did not come in time', async () => {
    const { socket } = await fakeGateway()
    const spool = join(ownFolder(), 'spool')
    await run(client, args(socket, '--spool', spool, '--within', '1500'), '{"a":1}')
    expect(spooled(spool)).toMatchObject([
      { why: 'the gateway did not answer within 1500 ms', blocked: true, native: { a: 1 } },
    ])
  })

  test('takes the largest payload', async () => {
    const spool = join(ownFolder(), 'spool')
    const text = 'x'.repeat((8 << 20) - 8)
    await run(client, args(nowhere, '--spool', spool), `{"a":"${text}"}`)
    expect((spooled(spool)[0] as { native: { a: string } }).native.a === text).toBe(true)
  })

  test('is left alone by what was delivered, be it refused', async () => {
    const { socket } = await saying(replyLine({ exit: 2, stderr: 'no' }))
    const spool = join(ownFolder(), 'spool')
    expect((await run(client, args(socket, '--spool', spool))).code).toBe(2)
    expect(existsSync(spool)).toBe(false)
  })

  test('that is full says so, once on disk and each time on stderr', async () => {
    const spool = ownFolder()
    const first = join(spool, '0.json')
    writeFileSync(first, '')
    for (let i = 1; i < 10_000; i++) linkSync(first, join(spool, `${i}.json`))
    expect(await run(client, args(nowhere, '--spool', spool))).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: `hookhelm: ${why}; not spooled: the spool is full\n`,
    })
    expect(await run(client, args(nowhere, '--spool', spool, '--observe'))).toEqual({
      code: 0,
      signal: null,
      stdout: '',
      stderr: `hookhelm: ${why}; the event is lost: the spool is full\n`,
    })
    expect(readdirSync(spool)).toHaveLength(10_001)
    expect(statSync(join(spool, 'overflow')).size).toBe(0)
  })

  // Nobody may write in /proc, not even root.
  test.each([
    ['is a file', spoolFile, 'the spool cannot be opened'],
    ['cannot be made', (): string => join(ownFolder(), 'a', 'b'), 'the spool cannot be opened'],
    ['is read-only', (): string => '/proc/self/task', 'the spool cannot be written'],
  ] as const)('that %s never opens a gate nor closes an observation', async (_, place, lost) => {
    const spool = place()
    expect(await run(client, args(nowhere, '--spool', spool))).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `hookhelm: ${why}; not spooled: ${lost}\n`,
    })
    expect(await run(client, args(nowhere, '--spool', spool, '--observe'))).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `hookhelm: ${why}; the event is lost: ${lost}\n`,
    })
    expect(await run(client, args(nowhere, '--spool', spool, '--fail-open'))).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `hookhelm: ${why}; let through because of --fail-open, not spooled\n`,
    })
  })

  test('without a folder an observation is lost, and said to be', async () => {
    expect(await run(client, args(nowhere, '--observe'))).toMatchObject({
      code: 0,
      stderr: `hookhelm: ${why}; the event is lost: there is no --spool\n`,
    })
  })

  test('leaves nothing half written behind', async () => {
    const spool = join(ownFolder(), 'spool')
    mkdirSync(spool)
    // No file of ours may become larger than this.
    const limited = {
      ...client,
      command: ['/bin/sh', '-c', 'ulimit -f 8; exec "$0" "$@"', ...client.command],
    }
    expect(
      await run(limited, args(nowhere, '--spool', spool), `{"a":"${'x'.repeat(100_000)}"}`),
    ).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `hookhelm: ${why}; not spooled: the spool cannot be written\n`,
    })
    expect(readdirSync(spool)).toEqual([])
  })
})

function spoolFile(): string {
  const path = join(ownFolder(), 'file')
  writeFileSync(path, '')
  return path
}

function spooled(folder: string): object[] {
  return readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
}
