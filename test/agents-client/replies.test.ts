import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clients, run } from './clients.fixture.ts'
import { args, fakeGateway, replyLine, saying } from './fake-gateway.fixture.ts'

describe.each(clients)('$name: a reply', (client) => {
  const runs = client.isNative ? 150 : 25

  test('is printed as it is, and its exit code is ours', async () => {
    const { socket, heard } = await saying(replyLine({ exit: 7, stdout: '{"a":1}', stderr: 'why\n' }))
    const ended = await run(client, args(socket), '{"tool":"Bash"}')
    expect(ended).toEqual({ code: 7, signal: null, stdout: '{"a":1}', stderr: 'why\n' })
    const [hello, request, rest] = (heard[0] ?? '').split('\n')
    expect(hello).toMatch(/^\{"hookhelm":1,"agent":"claude-code","pid":\d+\}$/)
    expect(request).toMatch(/^\{"id":1,"event":"PreToolUse","within_ms":\d+,"native":\{"tool":"Bash"\}\}$/)
    expect(rest).toBe('')
  })

  test('may be empty: then nothing is printed', async () => {
    const { socket } = await saying(replyLine())
    expect(await run(client, args(socket))).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
  })

  test('has its escapes undone, pairs of surrogates too', async () => {
    const stdout = '"\\\\ \\" \\/ \\b\\f\\n\\r\\t \\u0041\\u00e4\\u20AC \\ud83d\\ude00 ä€😀 \\u0000"'
    const { socket } = await saying(`{"id":1,"reply":{"exit":0,"stdout":${stdout},"stderr":""}}\n`)
    expect((await run(client, args(socket))).stdout).toBe('\\ " / \b\f\n\r\t Aä€ 😀 ä€😀 \0')
  })

  test('may be large', async () => {
    const stdout = 'ä"'.repeat(1_000_000)
    const { socket } = await saying(replyLine({ stdout }))
    const ended = await run(client, args(socket))
    expect(ended.code).toBe(0)
    expect(ended.stdout === stdout).toBe(true)
  })

  test('may come in pieces', async () => {
    const { socket } = await fakeGateway((connection) => {
      const bytes = Buffer.from(replyLine({ stdout: 'ä€😀' }))
      const next = (at: number) => {
        if (at < bytes.length) connection.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1))
      }
      next(0)
    })
    expect(await run(client, args(socket))).toMatchObject({ code: 0, stdout: 'ä€😀' })
  })

  test('comes after any number of lines that say to wait', async () => {
    const pending = `${JSON.stringify({ id: 1, pending: 'asked "the owner"', until_ms: 1_763_260_000_000 })}\n`
    const { socket } = await saying(pending.repeat(3) + replyLine({ exit: 3 }))
    expect((await run(client, args(socket))).code).toBe(3)
  })

  test('of any text is printed byte for byte', async () => {
    let line = ''
    const { socket } = await fakeGateway((connection) => connection.write(line))
    const text = fc.string({ unit: 'binary', maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(
        text,
        text,
        fc.integer({ min: 0, max: 255 }),
        fc.boolean(),
        async (stdout, stderr, exit, escaped) => {
          line = replyLine({ exit, stdout, stderr })
          if (escaped)
            line = line.replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
          expect(await run(client, args(socket))).toEqual({ code: exit, signal: null, stdout, stderr })
        },
      ),
      { numRuns: runs },
    )
  })

  test('4.12 #160 with one byte changed passes no gate, unless it still is a reply that does', async () => {
    let line: Uint8Array = Buffer.alloc(0)
    const { socket } = await fakeGateway((connection) => connection.end(line))
    const reply = Buffer.from(replyLine({ stdout: '{"ä":"\\ud83d\\n"}', stderr: 'x' }))
    await fc.assert(
      fc.asyncProperty(
        fc.nat(reply.length - 1),
        fc.integer({ min: 0, max: 255 }),
        fc.constantFrom('put', 'insert', 'drop'),
        async (at, byte, how) => {
          const before = reply.subarray(0, at)
          const after = reply.subarray(how === 'insert' ? at : at + 1)
          line = Buffer.concat([before, how === 'drop' ? Buffer.alloc(0) : Buffer.from([byte]), after])
          const ended = await run(client, args(socket))
          if (ended.code === 0) expect(readAsReply(line)).toMatchObject({ exit: 0, stdout: ended.stdout })
          else if (readAsReply(line) === undefined) expect(ended).toMatchObject({ code: 2, stdout: '' })
        },
      ),
      { numRuns: runs },
    )
  })
})

/** What a lenient reader would make of it. */
function readAsReply(bytes: Uint8Array): { exit: number; stdout: string; stderr: string } | undefined {
  try {
    const { id, reply } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    const isWhole =
      id === 1 &&
      Number.isInteger(reply.exit) &&
      [reply.stdout, reply.stderr].every((x) => typeof x === 'string')
    return isWhole ? reply : undefined
  } catch {
    return undefined
  }
}
