import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { shared } from '../gateway/running.fixture.ts'
import { alive } from '../safe/processes.fixture.ts'
import {
  addHooks,
  filesServerArgv,
  folder,
  HELLO,
  proxied,
  type RawProxy,
  rawProxy,
} from './proxied.fixture.ts'

const gateway = shared()
beforeAll(() => addHooks(gateway()))

const PING = '{"jsonrpc":"2.0","id":"last","method":"ping"}'
const CALL = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"forbidden","arguments":{}}}'
const json = async (proxy: RawProxy) => JSON.parse(await proxy.next())

async function greeted(
  args: readonly string[] = [],
  whenDone: (end: () => void) => void = onTestFinished,
): Promise<RawProxy> {
  const proxy = rawProxy(gateway(), args, undefined, whenDone)
  proxy.send(HELLO)
  await proxy.next()
  return proxy
}

/** Everything that was sent before has been dealt with. */
async function settled(proxy: RawProxy): Promise<string[]> {
  proxy.send(PING)
  expect(await json(proxy)).toMatchObject({ id: 'last' })
  return proxy.received()
}

describe('a call cannot be smuggled past the hooks', () => {
  const ends: (() => void)[] = []
  let proxy: RawProxy
  /** What the server got since the test began. */
  let fresh: () => Promise<string[]>
  beforeAll(async () => {
    proxy = await greeted([], (end) => void ends.push(end))
  })
  beforeEach(() => {
    const before = proxy.received().length
    fresh = async () => (await settled(proxy)).slice(before)
  })
  afterAll(() => ends.toReversed().map((end) => end()))

  test.each([
    ['with an escaped slash', CALL.replace('tools/call', 'tools\\/call')],
    ['with escaped letters', CALL.replace('tools', '\\u0074ools')],
    ['with an escaped key', CALL.replace('"method"', '"\\u006dethod"')],
    ['with blanks all over', CALL.replaceAll(':', ' :\t ').replaceAll(',', ' , ')],
    ['with a blank line end of Windows', `${CALL}\r`],
    ['with a byte order mark', `\uFEFF${CALL}`],
    ['with its keys in another order', `{"params":{"name":"forbidden"},"id":7,"method":"tools/call"}`],
    ['with an id of text', CALL.replace(':7,', ':"seven",')],
    ['with an id beyond what a double holds', CALL.replace(':7,', ':12345678901234567890,')],
    ['with the name escaped', CALL.replace('forbidden', 'forbi\\u0064den')],
    ['with a task', CALL.replace('"arguments"', '"task":{},"arguments"')],
  ])('%s: it is blocked', async (_, line) => {
    proxy.send(line)
    const answer = await proxy.next()
    expect(answer).toContain('not this one')
    expect(answer).toContain(/"id"\s*:\s*([^\s,]+)/.exec(line)?.[1])
    expect(await fresh()).toEqual([PING])
  })

  test.each([
    ['that is no JSON', '{"jsonrpc":', -32700],
    ['that is text', 'tools/call', -32700],
    ['with two methods', CALL.replace('"id"', '"method":"ping","id"'), -32700],
    ['with two methods, one escaped', CALL.replace('"id"', '"m\\u0065thod":"ping","id"'), -32700],
    ['with two ids', CALL.replace('"params"', '"id":8,"params"'), -32700],
    ['with two names', CALL.replace('"name"', '"name":"allowed","name"'), -32700],
    ['with bytes that are no UTF-8', Buffer.from(CALL.replace('forbidden', '\xff'), 'latin1'), -32700],
    ['with a line break that some servers end a line at', CALL.replace('{}', '\r{}\r'), -32700],
    [
      'nested in another, on what some servers take for a line',
      `{"id":1,"method":"ping","params":\r${CALL}\r}`,
      -32700,
    ],
    ['with a method in capitals beside it', CALL.replace('"id"', '"Method":"ping","id"'), -32600],
    ['with a key that folds to another', CALL.replace('"params"', '"param\u017f":{},"params"'), -32600],
    ['with a name in capitals beside it', CALL.replace('"name"', '"Name":"allowed","name"'), -32602],
    ['with another spelling of the method', CALL.replace('tools/call', 'Tools/Call'), -32601],
    ['with a blank behind the method', CALL.replace('tools/call', 'tools/call '), -32601],
    ['with wide letters in the method', CALL.replace('tools/call', 'tools/ｃall'), -32601],
    ['with an invisible letter in the method', CALL.replace('tools/call', 'tools/\u200bcall'), -32601],
    ['with no id that could be answered', CALL.replace(':7,', ':null,'), -32600],
    ['with a list for an id', CALL.replace(':7,', ':[7],'), -32600],
    ['with a list for arguments', CALL.replace('{}}', '[]}'), -32602],
    ['with a number for a name', CALL.replace('"forbidden"', '7'), -32602],
    ['without parameters', '{"jsonrpc":"2.0","id":7,"method":"tools/call"}', -32602],
    ['with a list for a method', CALL.replace('"tools/call"', '["tools/call"]'), -32600],
    ['in an empty list', '[]', -32600],
    ['in a list within a list', `[[${CALL}]]`, -32600],
    ['beside something that is no message', `[${CALL},7]`, -32600],
    ['nested too deeply', `${'['.repeat(300)}${']'.repeat(300)}`, -32700],
  ])('%s: it is refused', async (_, line, code) => {
    proxy.send(line)
    expect(await json(proxy)).toMatchObject({ jsonrpc: '2.0', error: { code } })
    expect(await fresh()).toEqual([PING])
  })

  test('as a notification that nobody could be told about', async () => {
    proxy.send('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"forbidden"}}')
    proxy.send('   ')
    expect(await fresh()).toEqual([PING])
  })

  test('before the server has said its name, or when nobody asked for it', async () => {
    const early = rawProxy(gateway())
    early.send(CALL)
    expect(await json(early)).toMatchObject({ id: 7, error: { code: -32600 } })
    early.send(HELLO)
    early.send(CALL)
    expect(await json(early)).toMatchObject({ id: 0 })
    expect(await early.next()).toContain('not this one')
    expect(await settled(early)).toEqual([HELLO, PING])
  })

  test('in a batch: the others of it pass as they came', async () => {
    const other = '{"jsonrpc":"2.0",  "id":1.50e0,"method":"list"}'
    const allowed = '{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"call"}}'
    proxy.send(`[ ${other} , ${CALL},${allowed}]`)
    const [blocked, ...rest] = [await json(proxy), await json(proxy), await json(proxy)]
    expect(blocked).toMatchObject([{ id: 7, result: { isError: true } }])
    expect(rest.find(({ id }) => id === 'a')).toMatchObject({
      result: { content: [{ text: 'the secret is [gone]' }] },
    })
    expect(await fresh()).toEqual([`[${other},${allowed}]`, PING])
  })

  test('a batch without a call passes as it came', async () => {
    const batch = '[ {"jsonrpc":"2.0","id":1,"method":"a"},\t{"jsonrpc":"2.0","method":"b"} ]'
    proxy.send(batch)
    expect(await json(proxy)).toMatchObject({ id: 1 })
    expect(await fresh()).toEqual([batch, PING])
  })
})

describe('a result cannot slip past the hooks', () => {
  const ask = (id: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"call","x":"hang"}}`
  const result = (id: string) =>
    `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"hunter2"}]}}`
  const say = (...lines: string[]) => JSON.stringify({ jsonrpc: '2.0', method: 'say', params: { lines } })

  test.each([
    ['an id of text for one that is a number', '5', result('"5"')],
    ['an id that was rounded', '12345678901234567890', result('12345678901234567000')],
    ['a list', '5', `[${result('5')}]`],
    ['escaped keys', '5', result('5').replace('"id"', '"\\u0069d"')],
    ['its keys in another order', '5', `{"result":{"content":[{"type":"text","text":"hunter2"}]},"id":5}`],
    ['something that only lenient readers read', '5', result('5').replace('"type"', '"n":NaN,"type"')],
    ['the result twice', '5', result('5').replace('"id"', '"result":{},"id"')],
    ['a result that is no object', '5', '{"id":5,"result":["hunter2"]}'],
  ])('answered with %s', async (_, id, line) => {
    // A server that answers each call twice: as it should, and then so.
    const proxy = await greeted()
    proxy.send(ask(id))
    expect(await proxy.next()).toContain('[gone]')
    proxy.send(say(line, '{"jsonrpc":"2.0","method":"end"}'))
    const seen: string[] = []
    while (!seen.at(-1)?.includes('"end"')) seen.push(await proxy.next())
    expect(seen.join()).not.toContain('hunter2')
  })

  test('an id under way cannot be used again', async () => {
    const proxy = await greeted()
    proxy.send('{"jsonrpc":"2.0","id":5,"method":"hang"}')
    proxy.send(ask('"5"'))
    expect(await json(proxy)).toMatchObject({ id: '5', error: { code: -32600 } })
    expect(await settled(proxy)).toHaveLength(3)
  })
})

describe('when nobody can decide', () => {
  const nowhere = { socket: '/nowhere/at-all.sock' }
  const call = { name: 'echo', arguments: { n: 1 } }

  test('a call is blocked with one line, and what is no call passes', async () => {
    const { client } = await proxied(nowhere)
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    const { isError, content } = await client.callTool(call)
    const [{ text } = { text: '' }] = content as { text: string }[]
    expect(isError).toBe(true)
    expect(text).toMatch(/^hookhelm: blocked, no decision: no gateway answers at .*$/)
  })

  test('with --fail-open it passes, which result and stderr say', async () => {
    const { client, stderr } = await proxied(nowhere, { args: ['--fail-open'] })
    const answer = await client.callTool(call)
    expect(answer).toMatchObject({ content: [{ text: 'n is 1' }] })
    expect(answer._meta?.['hookhelm/opened']).toContain('no gateway answers')
    expect(stderr()).toContain('--fail-open: calls are allowed')
    expect(stderr()).toContain('mcp__files__echo is allowed without a decision')
  })

  test('because the token is wrong, it is blocked', async () => {
    const env = { HOOKHELM_TOKEN: 'hh_wrong' }
    const { client } = await proxied(gateway(), { args: ['--url', gateway().url], env })
    expect(await client.callTool(call)).toMatchObject({ isError: true })
  })

  test('because others could have put the socket there, it is blocked', async () => {
    const open = folder()
    chmodSync(open, 0o777)
    const { client } = await proxied({ socket: join(open, 'gateway.sock') })
    expect(await client.callTool(call)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('other users may write') }],
    })
  })

  test('because a hook takes too long, it is blocked in time', async () => {
    const { client } = await proxied(gateway(), { args: ['--name', 'slow', '--within', '200'] })
    expect(await client.callTool(call)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('did not answer before the deadline') }],
    })
  })

  test('because the arguments are too large, it is blocked and the connection lives', async () => {
    const { client } = await proxied(gateway())
    const text = 'x'.repeat(2_000_000)
    const write = { name: 'write_file', arguments: { path: join(folder(), 'large'), text } }
    const [large, small] = await Promise.all([client.callTool(write), client.callTool(call)])
    expect(large).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('bytes') }] })
    expect(small).toMatchObject({ content: [{ text: 'n is 1' }] })
  })
})

test('a message that is too large is refused, and the server never sees it', async () => {
  const proxy = await greeted()
  const before = proxy.received().length
  proxy.send(CALL.replace('{}', `{"x":"${'x'.repeat(65 * 1_048_576)}"}`))
  expect(await json(proxy)).toMatchObject({ error: { code: -32600 } })
  await proxy.exited
  expect(proxy.received()).toHaveLength(before)
})

test('a call that is cancelled while hooks are asked reaches nobody, and its id is free again', async () => {
  const proxy = await greeted(['--name', 'slow'])
  const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'
  proxy.send(CALL)
  proxy.send(cancel)
  expect(await settled(proxy)).toEqual([HELLO, PING])
  proxy.send(cancel)
  expect(await settled(proxy)).toEqual([HELLO, PING, cancel, PING])
})

describe('the end', () => {
  test('of a server that crashes: its exit code, and an error for who still waits', async () => {
    const proxy = rawProxy(gateway(), [], filesServerArgv)
    proxy.send(
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}',
    )
    await proxy.next()
    proxy.send('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}')
    proxy.send('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crash"}}')
    const answers = [await json(proxy), await json(proxy)]
    expect(answers.map(({ id }) => id).toSorted()).toEqual([1, 2])
    expect(answers[0]).toMatchObject({
      error: { code: -32000, message: expect.stringContaining('exit code 3') },
    })
    expect(await proxy.exited).toBe(3)
  })

  test('of a server that cannot be started', async () => {
    const proxy = rawProxy(gateway(), [], ['/nowhere/server'])
    expect(await proxy.exited).toBe(127)
  })

  test.each([
    ['that goes with its client', 'cat'],
    ['that does not want to go', "trap '' TERM HUP INT; cat; sleep 4321.5 & sleep 4322.5"],
  ])('of a client takes a server with it %s', async (_, line) => {
    const mark = `hookhelm-mark-${process.pid}-${Math.trunc(Math.random() * 1e9)}`
    const proxy = rawProxy(gateway(), [], ['/bin/sh', '-c', `: ${mark}; ${line}`])
    proxy.send(PING)
    expect(await proxy.next()).toBe(PING)
    proxy.child.stdin?.end()
    expect(await proxy.exited).toBe(0)
    expect(alive(mark)).toEqual([])
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('by %s leaves nobody behind', async (signal) => {
    const mark = `hookhelm-mark-${process.pid}-${Math.trunc(Math.random() * 1e9)}`
    const proxy = rawProxy(gateway(), [], ['/bin/sh', '-c', `: ${mark}; trap '' TERM INT; cat; sleep 4323`])
    proxy.send(PING)
    await proxy.next()
    proxy.child.kill(signal)
    expect(await proxy.exited).toBe(signal === 'SIGTERM' ? 143 : 130)
    expect(alive(mark)).toEqual([])
  })

  test('of a client that reads nothing more takes everything with it', async () => {
    const proxy = rawProxy(gateway(), [], ['/bin/sh', '-c', 'yes "{}"'])
    proxy.child.stdout?.destroy()
    proxy.send(PING)
    expect(await proxy.exited).toBe(0)
  })

  test('does not come while the client reads slowly: nothing is lost and nothing piles up', async () => {
    const count = 20_000
    const proxy = rawProxy(
      gateway(),
      [],
      ['/bin/sh', '-c', `seq -f '{"jsonrpc":"2.0","method":"n","params":%.0f}' 1 ${count}`],
    )
    proxy.child.stdout?.pause()
    await once(proxy.child.stdout ?? process.stdin, 'readable').catch(() => {})
    proxy.child.stdout?.resume()
    let last = ''
    for (let n = 0; n < count; n++) last = await proxy.next()
    expect(last).toBe(`{"jsonrpc":"2.0","method":"n","params":${count}}`)
    expect(await proxy.exited).toBe(0)
  })
})
