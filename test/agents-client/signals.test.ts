import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clients, nativeClient, nodeClient, run, start } from './clients.fixture.ts'
import { args, fakeGateway, ownFolder, replyLine, saying } from './fake-gateway.fixture.ts'

const FAULTS: NodeJS.Signals[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGFPE', 'SIGILL']
const ENDS: NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP']

describe.each(clients)('$name: 4.12 #165 who is ended in the middle', (client) => {
  test.each(ENDS)('closes the gate, by %s while the gateway is asked', async (signal) => {
    const gateway = await fakeGateway()
    const spool = join(ownFolder(), 'spool')
    const started = start(client, args(gateway.socket, '--spool', spool))
    started.write('{"a":1}')
    started.end()
    await gateway.asked
    started.kill(signal)
    expect(await started.ended).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: 'hookhelm: interrupted by a signal\n',
    })
    expect(spooled(spool)).toMatchObject([
      { why: 'interrupted by a signal', blocked: true, native: { a: 1 } },
    ])
  })

  test.each(ENDS)('closes the gate, by %s before the payload is there', async (signal) => {
    const gateway = await fakeGateway()
    const spool = join(ownFolder(), 'spool')
    const started = start(client, args(gateway.socket, '--spool', spool))
    await started.isReading()
    started.kill(signal)
    expect(await started.ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'hookhelm: interrupted by a signal\n',
    })
    expect(spooled(spool)).toMatchObject([{ blocked: true, native: null }])
  })

  test('closes it even with --fail-open, and denies where that is how to refuse', async () => {
    const { socket } = await fakeGateway()
    const open = start(client, args(socket, '--fail-open'))
    await open.isReading()
    open.kill('SIGINT')
    expect(await open.ended).toMatchObject({ code: 2, stdout: '' })
    const permission = start(client, args(socket, '--refuse', 'permission-camel'))
    await permission.isReading()
    permission.kill('SIGTERM')
    const ended = await permission.ended
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(ended.stdout)).toEqual({
      behavior: 'deny',
      message: 'hookhelm: interrupted by a signal',
    })
  })

  test('lets an observation go on, and leaves it in the spool', async () => {
    const gateway = await fakeGateway()
    const spool = join(ownFolder(), 'spool')
    const started = start(client, args(gateway.socket, '--observe', '--spool', spool))
    started.write('{"a":1}')
    started.end()
    await gateway.asked
    started.kill('SIGTERM')
    expect(await started.ended).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
    expect(spooled(spool)).toMatchObject([{ native: { a: 1 } }])
  })
})

describe.runIf(nativeClient)('native: 4.12 #161 a crash', () => {
  const client = nativeClient ?? nodeClient

  test.each(FAULTS)('by %s closes the gate', async (signal) => {
    for (const [more, expected] of [
      [[], { code: 2, stdout: '', stderr: 'hookhelm: the client crashed\n' }],
      [['--observe'], { code: 0, stdout: '', stderr: '' }],
      [
        ['--fail-open'],
        { code: 0, stderr: 'hookhelm: the client crashed; let through because of --fail-open\n' },
      ],
      [
        ['--refuse', 'permission-camel'],
        { code: 0, stdout: '{"behavior":"deny","message":"hookhelm: the client crashed"}\n', stderr: '' },
      ],
    ] as const) {
      const gateway = await fakeGateway()
      const started = start(client, args(gateway.socket, ...more))
      started.write('{}')
      started.end()
      await gateway.asked
      started.kill(signal)
      expect(await started.ended).toMatchObject({ signal: null, ...expected })
    }
  })
})

describe('node: 4.12 #161 a crash', () => {
  // What it needs is gone before it runs: at its start, and when the answer comes.
  test.each(['process.uptime', 'Buffer.concat'])(
    'of its own code, for want of %s, closes the gate and no observation',
    async (gone) => {
      const [node = '', script = ''] = nodeClient.command
      const broken = {
        ...nodeClient,
        command: [node, '--import', `data:text/javascript,delete ${gone}`, script],
      }
      const { socket } = await saying(replyLine())
      expect(await run(broken, args(socket))).toMatchObject({
        code: 2,
        stdout: '',
        stderr: 'hookhelm: the client crashed\n',
      })
      expect(await run(broken, args(socket, '--observe'))).toMatchObject({ code: 0, stdout: '' })
    },
  )

  // Node cannot run code after a fault of the machine: this is why the native client is preferred.
  test('by SIGSEGV is no success', async () => {
    const gateway = await fakeGateway()
    const started = start(nodeClient, args(gateway.socket))
    await started.isReading()
    started.kill('SIGSEGV')
    expect((await started.ended).code).not.toBe(0)
  })
})

function spooled(folder: string): unknown[] {
  return readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
}
