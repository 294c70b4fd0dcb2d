import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clients, nodeClient, run, sanitizedClient, start } from './clients.fixture.ts'
import { args, fakeGateway, ownFolder, replyLine, saying } from './fake-gateway.fixture.ts'

const MAX = 8 << 20
const deep = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

const readable: [string, string | Buffer][] = [
  ['an empty object', '{}'],
  ['all kinds of values', '{"a":[1,-0.5e+3,true,false,null,"\\u00e4\\ud800\\n",{}],"b":{"c":[]}}'],
  ['space around it', ' \t\r\n{ "a" : [ 1 , 2 ] }\r\n \t'],
  ['brackets and quotes within strings', '{"a":"}],\\"{","\\\\":"\\\\"}'],
  ['characters of every width', '{"a":"aä€😀\u007f"}'],
  ['512 levels', deep(512)],
  ['more brackets than levels', `{"a":[${'[],'.repeat(600)}1]}`],
  ['more than fits into the first room', `{"a":"${'x'.repeat(200_000)}"}`],
]

const unreadable: [string, string | Buffer][] = [
  ['nothing', ''],
  ['space', ' \n'],
  ['text', 'hello'],
  ['a list', '[{}]'],
  ['a string', '"{}"'],
  ['a byte order mark', '\uFEFF{}'],
  ['no-break space before it', '\u00a0{}'],
  ['half an object', '{"a":1'],
  ['an unfinished string', '{"a":"'],
  ['an unfinished escape', '{"a":"\\'],
  ['an unfinished \\u', '{"a":"\\u12'],
  ['a NUL in a string', '{"a":"\0"}'],
  ['a NUL behind it', '{}\0'],
  ['a line break in a string', '{"a":"b\nc"}'],
  ['single quotes', "{'a':1}"],
  ['a bare key', '{a:1}'],
  ['a comma too many', '{"a":1,}'],
  ['a list with a comma too many', '{"a":[1,]}'],
  ['a missing colon', '{"a" 1}'],
  ['a leading zero', '{"a":01}'],
  ['a plus', '{"a":+1}'],
  ['an unfinished number', '{"a":1.}'],
  ['an unfinished exponent', '{"a":1e}'],
  ['a lone minus', '{"a":-}'],
  ['NaN', '{"a":NaN}'],
  ['an unknown word', '{"a":nul}'],
  ['brackets that do not fit', '{"a":[1}]'],
  ['an unknown escape', '{"a":"\\x"}'],
  ['bytes that are no UTF-8', Buffer.from('{"a":"\xff"}', 'latin1')],
  ['a character that is cut off', Buffer.from('{"a":"\xe2\x82"}', 'latin1')],
  ['513 levels', deep(513)],
  ['a million levels', deep(1_000_000)],
  ['an object that closes early, to bring a key of its own', '{},"event":"Stop","native":{}'],
  ['an object and the end of the line', '{}}\n{"id":1,"event":"Stop","native":{}'],
  ['two objects', '{}{}'],
  ['two objects on two lines', '{}\n{}'],
  ['an object and a bracket', '{}}'],
  ['an object and text', '{}x'],
]

describe.each(clients)('$name: a payload', (client) => {
  test.each(readable)('of %s is sent as it is, on one line', async (_, payload) => {
    const { socket, heard } = await saying(replyLine())
    expect(await run(client, args(socket), payload)).toMatchObject({ code: 0, stderr: '' })
    const [, request, rest] = (heard[0] ?? '').split('\n')
    expect(request?.endsWith(`"native":${payload.toString().replace(/[\r\n]/g, ' ')}}`)).toBe(true)
    expect(rest).toBe('')
  })

  test.each(unreadable)('of %s is not sent: the gate is closed', async (_, payload) => {
    const { socket, heard } = await saying(replyLine())
    expect(await run(client, args(socket), payload)).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: 'hookhelm: the payload is not one JSON object\n',
    })
    expect(heard.join('')).toBe('')
  })

  test('of 8 MiB is sent, one byte more is not', async () => {
    const { socket, heard } = await saying(replyLine())
    const payload = `{"a":"${'x'.repeat(MAX - 8)}"}`
    expect(await run(client, args(socket), payload)).toMatchObject({ code: 0, stderr: '' })
    expect(heard[0]?.split('\n')[1]?.endsWith(`"native":${payload}}`)).toBe(true)
    expect(await run(client, args(socket), `${payload} `)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'hookhelm: the payload has more than 8 MiB\n',
    })
    expect(heard[1] ?? '').toBe('')
  })

  test('that never ends is given up in time', async () => {
    const { socket, heard } = await saying(replyLine())
    const started = start(client, args(socket, '--within', '400'))
    started.write('{"a":1}')
    expect(await started.ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'hookhelm: the payload did not end within 400 ms\n',
    })
    expect(heard.join('')).toBe('')
  })

  test('that cannot be read passes an observation, and is spooled as null', async () => {
    const { socket } = await saying(replyLine())
    const spool = join(ownFolder(), 'spool')
    for (const payload of ['', '{', '{},"agent":"x","native":{}'])
      expect(await run(client, args(socket, '--observe', '--spool', spool), payload)).toEqual({
        code: 0,
        signal: null,
        stdout: '',
        stderr: '',
      })
    const files = readdirSync(spool)
    expect(files).toHaveLength(3)
    for (const file of files)
      expect(JSON.parse(readFileSync(join(spool, file), 'utf8'))).toMatchObject({
        agent: 'claude-code',
        why: 'the payload is not one JSON object',
        native: null,
      })
  })
})

describe.runIf(sanitizedClient)('the sanitized client', () => {
  const client = sanitizedClient ?? nodeClient

  test('reads and refuses every payload as the others do', async () => {
    const { socket } = await saying(replyLine())
    for (const [name, payload] of readable)
      expect([name, (await run(client, args(socket), payload)).code]).toEqual([name, 0])
    for (const [name, payload] of unreadable)
      expect([name, await run(client, args(socket), payload)]).toMatchObject([
        name,
        { code: 2, stderr: 'hookhelm: the payload is not one JSON object\n' },
      ])
  })

  test('survives the largest payloads', async () => {
    const { socket } = await saying(replyLine())
    for (const length of [32_766, 32_767, 32_768, 32_769, MAX - 1, MAX, MAX + 1, MAX + 2, MAX + 3, MAX + 4]) {
      const { code, stderr } = await run(client, args(socket), `{"a":"${'x'.repeat(length - 8)}"}`)
      expect([length, code, stderr.includes('Sanitizer')]).toEqual([length, length <= MAX ? 0 : 2, false])
    }
  })

  test('agrees with JSON.parse on anything that looks like an object', async () => {
    const { socket } = await saying(replyLine())
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"a"',
        '"',
        '\\',
        '\\u00',
        'd83d',
        '1',
        '-',
        '0',
        '.5',
        'e',
        'true',
        'nul',
        ' ',
        'ä',
      ],
    )
    const payload = fc.oneof(
      fc.json().map((json) => `{"a":${json}}`),
      fc.array(piece, { maxLength: 12 }).map((pieces) => `{${pieces.join('')}}`),
    )
    await fc.assert(
      fc.asyncProperty(payload, async (text) => {
        const { code, stderr } = await run(client, args(socket), text)
        expect([code, stderr]).toEqual(
          isObject(text) ? [0, ''] : [2, 'hookhelm: the payload is not one JSON object\n'],
        )
      }),
      { numRuns: 200 },
    )
  })

  test('is never broken by what a gateway says', async () => {
    let line: Uint8Array = Buffer.alloc(0)
    const { socket } = await fakeGateway((connection) => connection.end(line))
    const start = fc.constantFrom(
      ...[
        '',
        '{"id":1,"reply":{"exit":0,"stdout":"',
        '{"id":1,"error":{"code":"a","message":"',
        '{"id":1,"pending":"',
      ],
    )
    await fc.assert(
      fc.asyncProperty(start, fc.uint8Array({ maxLength: 80 }), fc.boolean(), async (head, bytes, ends) => {
        line = Buffer.concat([Buffer.from(head), bytes, Buffer.from(ends ? '\n' : '')])
        expect(await run(client, args(socket))).toMatchObject({
          code: 2,
          stdout: '',
          stderr: expect.stringMatching(/^hookhelm: [^\n]+\n$/),
        })
      }),
      {
        numRuns: 200,
        // An error with an empty message.
        examples: [['{"id":1,"error":{"code":"a","message":"', Uint8Array.from([34]), true]],
      },
    )
  })
})

function isObject(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
