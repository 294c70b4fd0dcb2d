import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { clients, nativeClient, run, start } from './clients.fixture.ts'
import { args, fakeGateway, ownFolder, replyLine, saying } from './fake-gateway.fixture.ts'

const UNREADABLE = "hookhelm: the gateway's answer cannot be read\n"
const ENDED = 'hookhelm: the gateway ended the connection without an answer\n'
const good = replyLine()
const ok = '{"id":1,"reply":{"exit":0,"stdout":"","stderr":""}}'

/** Listens and then does nothing any more. */
const BUSY = `
  require('node:net').createServer().listen({ path: process.argv[1], backlog: 1 }, () => {
    require('node:fs').writeSync(1, 'listening')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })
`

/** What every command-hook client takes for a block. */
const refused = (stderr: string) => ({ code: 2, signal: null, stdout: '', stderr })

describe.each(clients)('$name: 4.12 #160 a gate without an answer is closed', (client) => {
  test('when there is no socket, nor a folder for it', async () => {
    for (const path of [join(ownFolder(), 'none.sock'), join(ownFolder(), 'none', 'x.sock')])
      expect(await run(client, args(path))).toEqual(
        refused(`hookhelm: no gateway listens at ${path}; start it with "hookhelm up"\n`),
      )
  })

  test('when what lies there is no socket', async () => {
    const path = join(ownFolder(), 'file')
    writeFileSync(path, '')
    expect(await run(client, args(path))).toEqual(
      refused(`hookhelm: no gateway listens at ${path}; start it with "hookhelm up"\n`),
    )
  })

  test('when the path is too long for a socket', async () => {
    const path = `/${'x'.repeat(200)}/\n\u009b1m`
    expect(await run(client, args(path))).toEqual(
      refused(`hookhelm: the socket /${'x'.repeat(200)}/  1m cannot be reached\n`),
    )
  })

  test('when the gateway hangs', async () => {
    const { socket } = await fakeGateway()
    expect(await run(client, args(socket, '--within', '1500'))).toEqual(
      refused('hookhelm: the gateway did not answer within 1500 ms\n'),
    )
  })

  test('when so many wait for the gateway that it takes no more in', async () => {
    const path = join(ownFolder(), 'full.sock')
    const child = spawn(process.execPath, ['-e', BUSY, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const waiting: Socket[] = []
    onTestFinished(() => {
      child.kill('SIGKILL')
      for (const socket of waiting) socket.destroy()
    })
    const isTaken = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(path, () => resolve(true)).on('error', () => resolve(false))
        waiting.push(socket)
      })
    while (await isTaken());
    expect(await run(client, args(path, '--within', '1500'))).toEqual(
      refused('hookhelm: the gateway did not answer within 1500 ms\n'),
    )
  })

  test('when the answer trickles in and never ends', async () => {
    const { socket } = await fakeGateway((connection) => {
      connection.write('{"id":1,"reply":{"exit":0,"stdout":"')
      const trickle = () => {
        if (connection.writable) connection.write('x', () => setTimeout(trickle, 10))
      }
      trickle()
    })
    expect(await run(client, args(socket, '--within', '1500'))).toEqual(
      refused('hookhelm: the gateway did not answer within 1500 ms\n'),
    )
  })

  test('when it is told to wait for longer than it may', async () => {
    const { socket } = await saying('{"id":1,"pending":"a person","until_ms":9999999999999}\n')
    expect(await run(client, args(socket, '--within', '1500'))).toMatchObject({ code: 2, stdout: '' })
  })

  test('when the gateway hangs up, before and after the request, at once and in the middle of a line', async () => {
    const silent = await fakeGateway((connection) => connection.end())
    const halfway = await fakeGateway((connection) => connection.end(ok))
    for (const { socket } of [silent, halfway])
      expect(await run(client, args(socket))).toEqual(refused(ENDED))
    const early = join(ownFolder(), 'early.sock')
    const server = createServer((connection) => connection.destroy()).listen(early)
    onTestFinished(() => void server.close())
    expect(await run(client, args(early))).toEqual(refused(ENDED))
  })

  test.each([
    ['garbage', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['an empty line', '\n'],
    ['an allow of another protocol', '{"id":1,"event_id":"e","decision":{"kind":"allow"}}\n'],
    ['another id', good.replace('1', '2')],
    ['an id as text', good.replace('1', '"1"')],
    ['an unknown key', good.replace('"stderr":""', '"stderr":"","more":1')],
    ['a key twice', good.replace('"exit":0', '"exit":2,"exit":0')],
    ['keys in another order', '{"id":1,"reply":{"stdout":"","exit":0,"stderr":""}}\n'],
    ['a missing key', '{"id":1,"reply":{"exit":0,"stdout":""}}\n'],
    ['spaces', '{"id": 1,"reply":{"exit":0,"stdout":"","stderr":""}}\n'],
    ['something behind', `${ok} \n`],
    ['a carriage return', `${ok}\r\n`],
    ['two lines', good + good],
    ['a reply and half a line', `${good}{`],
    ['exit 256', good.replace('"exit":0', '"exit":256')],
    ['exit -1', good.replace('"exit":0', '"exit":-1')],
    ['exit 00', good.replace('"exit":0', '"exit":00')],
    ['exit 0.0', good.replace('"exit":0', '"exit":0.0')],
    ['exit 0e0', good.replace('"exit":0', '"exit":0e0')],
    ['exit beyond 2⁶⁴', good.replace('"exit":0', '"exit":18446744073709551616')],
    ['no exit', good.replace('"exit":0', '"exit":')],
    ['null as text', good.replace('"stdout":""', '"stdout":null')],
    ['half a pair of surrogates', good.replace('"stdout":""', '"stdout":"\\ud800"')],
    ['the halves the wrong way round', good.replace('"stdout":""', '"stdout":"\\ude00\\ud83d"')],
    ['a half and another character', good.replace('"stdout":""', '"stdout":"\\ud83d\\u0041"')],
    ['an unknown escape', good.replace('"stdout":""', '"stdout":"\\x41"')],
    ['an unfinished escape', good.replace('"stdout":""', '"stdout":"\\u00"')],
    ['a raw tab', good.replace('"stdout":""', '"stdout":"\t"')],
    ['a NUL', good.replace('"stdout":""', '"stdout":"\0"')],
    ['a byte order mark', `\uFEFF${good}`],
    ['bytes that are no UTF-8', Buffer.from(good.replace('"stdout":""', '"stdout":"\xff"'), 'latin1')],
    ['an overlong slash', Buffer.from(good.replace('"stdout":""', '"stdout":"\xc0\xaf"'), 'latin1')],
    ['a surrogate in UTF-8', Buffer.from(good.replace('"stdout":""', '"stdout":"\xed\xa0\x80"'), 'latin1')],
    ['a pending line that says more', '{"id":1,"pending":"x","until_ms":1,"exit":0}\n'],
    ['a line that never ends', Buffer.alloc((8 << 20) + (64 << 10) + 1, 'x')],
  ])('when the answer is %s', async (_, bytes) => {
    const { socket } = await saying(bytes)
    expect(await run(client, args(socket))).toEqual(refused(UNREADABLE))
  })

  test.each(['1', 'null'])('when the gateway says why it has none, for id %s', async (id) => {
    const { socket } = await saying(
      `{"id":${id},"error":{"code":"auth.token","message":"the token is \\"old\\"\\n\\u001b[31m\\u009bred","hint":"x"}}\n`,
    )
    expect(await run(client, args(socket))).toEqual(refused('hookhelm: the token is "old"  [31m red\n'))
  })

  test('when the gateway refuses before it has read all', async () => {
    const path = join(ownFolder(), 'busy.sock')
    const server = createServer((connection) =>
      connection
        .on('error', () => {})
        .once('data', () =>
          connection.end('{"id":null,"error":{"code":"input.too_large","message":"too large"}}\n'),
        ),
    ).listen(path)
    onTestFinished(() => void server.close())
    const ended = await run(client, args(path), `{"a":"${'x'.repeat(4 << 20)}"}`)
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^hookhelm: .+\n$/) })
  })

  test('with a reason that is clipped between two characters', async () => {
    const { socket } = await saying(
      `{"id":1,"error":{"code":"x","message":"a${'ä'.repeat(400)}","hint":"y"}}\n`,
    )
    expect(await run(client, args(socket))).toEqual(refused(`hookhelm: a${'ä'.repeat(248)}…\n`))
  })

  test('when nobody reads the answer any more', async () => {
    const gateway = await fakeGateway()
    const started = start(client, args(gateway.socket))
    started.write('{}')
    started.end()
    const connection = await gateway.asked
    await started.closeStdout()
    connection.write(replyLine({ stdout: '{"decision":"block"}' }))
    expect(await started.ended).toMatchObject({
      code: 2,
      stderr: 'hookhelm: the answer could not be written to stdout\n',
    })
  })
})

describe.each(clients)('$name: 4.12 #160 where exit 2 is not honoured', (client) => {
  const path = '/nowhere/"gateway".sock'
  const message = `hookhelm: no gateway listens at ${path}; start it with "hookhelm up"`

  test('a permission is denied in the words of that event', async () => {
    const snake = await run(client, args(path, '--refuse', 'permission'))
    expect(snake).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(snake.stdout)).toEqual({
      hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message } },
    })
    const camel = await run(client, args(path, '--refuse', 'permission-camel'))
    expect(camel).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(camel.stdout)).toEqual({ behavior: 'deny', message })
    const decision = await run(client, args(path, '--refuse', 'decision'))
    expect(decision).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(decision.stdout)).toEqual({ decision: 'block', reason: message })
  })

  test('a refusal for a file that several agents read holds the fields of each of them', async () => {
    const output = async (format: string) => {
      const { stdout, ...rest } = await run(client, args(path, '--refuse', format))
      expect(rest).toMatchObject({ code: 0, stderr: '' })
      return JSON.parse(stdout)
    }
    const decided = { permissionDecision: 'deny', permissionDecisionReason: message }
    expect(await output('tool')).toEqual({
      permission: 'deny',
      user_message: message,
      ...decided,
      hookSpecificOutput: { hookEventName: 'PreToolUse', ...decided },
    })
    const denied = { behavior: 'deny', message }
    expect(await output('permission-any')).toEqual({
      ...denied,
      hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: denied },
    })
    expect(await output('prompt')).toEqual({
      decision: 'block',
      reason: message,
      continue: false,
      user_message: message,
    })
  })

  test('the longest reason fits into the longest refusal', async () => {
    const { socket } = await saying(
      `{"id":1,"error":{"code":"x","message":"${'\\"'.repeat(600)}","hint":"y"}}\n`,
    )
    const { stdout } = await run(client, args(socket, '--refuse', 'tool'))
    const { permissionDecisionReason: reason } = JSON.parse(stdout)
    expect(reason).toBe(`hookhelm: ${'"'.repeat(497)}…`)
  })

  test('a reply is printed as elsewhere', async () => {
    const { socket } = await saying(replyLine({ stdout: '{}' }))
    expect(await run(client, args(socket, '--refuse', 'permission'))).toMatchObject({ code: 0, stdout: '{}' })
  })

  test('exit 2 is what is left when the denial cannot be printed', async () => {
    const gateway = await fakeGateway()
    const started = start(client, args(gateway.socket, '--refuse', 'permission'))
    started.write('{}')
    started.end()
    const connection = await gateway.asked
    await started.closeStdout()
    connection.end()
    expect(await started.ended).toMatchObject({ code: 2, stderr: ENDED })
  })
})

describe.each(clients)('$name: --fail-open', (client) => {
  test('lets a gate without an answer go on, and says so', async () => {
    expect(await run(client, args('/nowhere/x.sock', '--fail-open'))).toEqual({
      code: 0,
      signal: null,
      stdout: '',
      stderr:
        'hookhelm: no gateway listens at /nowhere/x.sock; start it with "hookhelm up"; let through because of --fail-open\n',
    })
  })

  test('changes nothing about an answer', async () => {
    const { socket } = await saying(replyLine({ exit: 2, stderr: 'no' }))
    expect(await run(client, args(socket, '--fail-open'))).toMatchObject({ code: 2, stderr: 'no' })
  })
})

test.runIf(nativeClient)(
  '4.12 #160 a socket of ours is never taken for a stdout that is closed',
  async () => {
    const [path = ''] = nativeClient?.command ?? []
    const { socket, heard } = await saying(replyLine({ stdout: '{"decision":"block"}' }))
    const shell = { name: 'sh', isNative: true, command: ['/bin/sh', '-c', 'exec "$0" "$@" >&-', path] }
    expect(await run(shell, args(socket))).toMatchObject({
      code: 2,
      stderr: 'hookhelm: the answer could not be written to stdout\n',
    })
    expect(heard.join('')).not.toContain('decision')
  },
)

test.runIf(nativeClient && process.platform === 'linux')(
  '4.12 #161 without memory for the payload a gate is closed',
  async () => {
    const [path = ''] = nativeClient?.command ?? []
    const { socket } = await saying(good)
    const shell = {
      name: 'sh',
      isNative: true,
      command: ['/bin/sh', '-c', 'ulimit -v 6000; exec "$0" "$@"', path],
    }
    expect(await run(shell, args(socket), '{}')).toMatchObject({ code: 0 })
    expect(await run(shell, args(socket), `{"a":"${'x'.repeat(100_000)}"}`)).toEqual(
      refused('hookhelm: out of memory\n'),
    )
  },
)
