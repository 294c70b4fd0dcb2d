import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { shared } from '../gateway/running.fixture.ts'
import { answerNext } from '../sdk/deciders.fixture.ts'
import { addHooks, direct, folder, proxied } from './proxied.fixture.ts'

const gateway = shared()
beforeAll(() => addHooks(gateway()))

const write = (client: Client, path: string) =>
  client.callTool({ name: 'write_file', arguments: { path, text: 'as asked' } })

test('what is no tool call is the same as without the proxy', async () => {
  const [through, plain] = await Promise.all([proxied(gateway()), direct()])
  const seen = await Promise.all(
    [through, plain].map(async ({ client }) => [
      client.getServerVersion(),
      client.getServerCapabilities(),
      client.getInstructions(),
      await client.listTools(),
      await client.listResources(),
      await client.listResourceTemplates(),
      await client.readResource({ uri: 'file:///readme' }),
      await client.readResource({ uri: 'page://7' }),
      await client.listPrompts(),
      await client.getPrompt({ name: 'review', arguments: { code: 'x' } }),
      await client.setLoggingLevel('info'),
      await client.ping(),
      await client.readResource({ uri: 'file:///nowhere' }).catch((error) => error),
      await client.callTool({ name: 'echo', arguments: { n: 1 } }),
    ]),
  )
  expect(seen[0]).toEqual(seen[1])
})

describe('a tool call', () => {
  test('that no hook objects to runs', async () => {
    const path = join(folder(), 'allowed')
    const { client } = await proxied(gateway())
    expect(await write(client, path)).toEqual({ content: [{ type: 'text', text: 'wrote as asked' }] })
    expect(readFileSync(path, 'utf8')).toBe('as asked')
  })

  test('that a hook blocks is an error result, and the server never sees it', async () => {
    const path = join(folder(), 'forbidden')
    const { client } = await proxied(gateway())
    expect(await write(client, path)).toEqual({
      content: [{ type: 'text', text: 'not there' }],
      isError: true,
    })
    expect(existsSync(path)).toBe(false)
  })

  test('that a hook rewrites runs with the new arguments', async () => {
    const path = join(folder(), 'rewrite')
    const { client } = await proxied(gateway())
    expect(await write(client, path)).toMatchObject({ content: [{ text: 'wrote rewritten' }] })
    expect(readFileSync(path, 'utf8')).toBe('rewritten')
  })

  test('carries what hooks add for the model behind its result', async () => {
    const { client } = await proxied(gateway())
    const { content } = await write(client, join(folder(), 'context'))
    expect(content).toEqual([
      { type: 'text', text: 'wrote as asked' },
      { type: 'text', text: 'files are backed up' },
    ])
  })

  test('has its result redacted', async () => {
    const { client } = await proxied(gateway())
    expect(await client.callTool({ name: 'read_secret' })).toEqual({
      content: [{ type: 'text', text: 'the secret is [gone]' }],
      structuredContent: { secret: '[gone]' },
    })
  })

  test('that fails is told to the hooks of failures, which may add something', async () => {
    const { client } = await proxied(gateway())
    expect(await client.callTool({ name: 'fail' })).toEqual({
      content: [
        { type: 'text', text: 'it failed' },
        { type: 'text', text: 'heard: it failed' },
      ],
      isError: true,
    })
  })

  test('tells its progress on the way', async () => {
    const { client } = await proxied(gateway())
    const seen: number[] = []
    const onprogress = ({ progress }: { progress: number }) => void seen.push(progress)
    await client.callTool({ name: 'steps' }, CallToolResultSchema, { onprogress })
    expect(seen).toEqual([1, 2, 3])
  })

  test('is named by the server, or as the command line says', async () => {
    const path = join(folder(), 'forbidden')
    const other = await proxied(gateway(), { args: ['--name', 'other server'] })
    expect(await write(other.client, path)).not.toHaveProperty('isError')
  })

  test('says who calls, and by which id', async () => {
    const call = {
      name: 'write_file',
      arguments: { path: join(folder(), 'who'), text: '' },
      _meta: { 'claudecode/toolUseId': 'toolu_1' },
    }
    const told = async (args: readonly string[]) => {
      const { client } = await proxied(gateway(), { args })
      const { content } = await client.callTool(call)
      return (content as { text: string }[])[0]?.text
    }
    expect(await told([])).toBe('["test-client","toolu_1"]')
    expect(await told(['--agent', 'named'])).toBe('["named","toolu_1"]')
  })
})

describe('a hook that asks', () => {
  const asked: unknown[] = []
  const person = (action: 'accept' | 'decline') => ({
    client: { capabilities: { elicitation: {} } },
    prepare: (client: Client) =>
      client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        asked.push(params)
        return action === 'accept' ? { action, content: {} } : { action }
      }),
  })

  test('is answered at the gateway where the client cannot ask, and the client hears of the wait', async () => {
    const path = join(folder(), 'asks')
    const { client } = await proxied(gateway())
    const { promise: heard, resolve } = Promise.withResolvers<unknown>()
    const call = { name: 'write_file', arguments: { path, text: 'as asked' } }
    const written = client.callTool(call, undefined, { onprogress: resolve })
    expect(await heard).toMatchObject({ message: 'waits for a decision of the hooks' })
    expect(existsSync(path)).toBe(false)
    await answerNext(gateway(), 'approve', { input: { path, text: 'as edited' } })
    expect(await written).toMatchObject({ content: [{ text: 'wrote as edited' }] })
  })

  test('blocks where the client can neither ask nor wait', async () => {
    const path = join(folder(), 'asks')
    const { client } = await proxied(gateway(), { args: ['--wait', '0'] })
    expect(await write(client, path)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('cannot ask: may it write?') }],
    })
    expect(existsSync(path)).toBe(false)
  })

  test('goes on when the person agrees', async () => {
    const path = join(folder(), 'asks')
    const { client } = await proxied(gateway(), person('accept'))
    expect(await write(client, path)).toMatchObject({ content: [{ text: 'wrote as asked' }] })
    expect(asked.at(-1)).toMatchObject({ message: expect.stringContaining('mcp__files__write_file') })
    expect(readFileSync(path, 'utf8')).toBe('as asked')
  })

  test('blocks when the person declines', async () => {
    const path = join(folder(), 'asks')
    const { client } = await proxied(gateway(), person('decline'))
    expect(await write(client, path)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('did not approve') }],
    })
    expect(existsSync(path)).toBe(false)
  })
})

describe('a call that becomes a task', () => {
  const task = { task: { ttl: 60_000 } }

  test('is gated, and the result that comes later is redacted', async () => {
    const path = join(folder(), 'task')
    const { client } = await proxied(gateway())
    await client.listTools()
    const stream = client.experimental.tasks.callToolStream(
      { name: 'later', arguments: { path } },
      CallToolResultSchema,
      task,
    )
    const messages = []
    for await (const message of stream) messages.push(message)
    expect(messages.at(-1)).toMatchObject({
      type: 'result',
      result: { content: [{ text: 'later, the secret is [gone]' }] },
    })
    expect(readFileSync(path, 'utf8')).toBe('later')
  })

  test('is blocked with an error, since there is no task to answer with', async () => {
    const path = join(folder(), 'forbidden')
    const { client } = await proxied(gateway())
    await client.listTools()
    const stream = client.experimental.tasks.callToolStream(
      { name: 'later', arguments: { path } },
      CallToolResultSchema,
      task,
    )
    const messages = []
    for await (const message of stream) messages.push(message)
    expect(messages.at(-1)).toMatchObject({ type: 'error', error: { code: -32050 } })
    expect(existsSync(path)).toBe(false)
  })
})

test('a hundred calls at once get each its own answer', async () => {
  const { client } = await proxied(gateway())
  const numbers = Array.from({ length: 100 }, (_, n) => n)
  const answers = await Promise.all(numbers.map((n) => client.callTool({ name: 'echo', arguments: { n } })))
  expect(answers.map(({ content }) => content)).toEqual(
    numbers.map((n) => [{ type: 'text', text: `n is ${n}` }]),
  )
})

describe('a large result', () => {
  test('passes up to what a gateway takes', async () => {
    const { client } = await proxied(gateway())
    const { content } = await client.callTool({ name: 'large', arguments: { size: 900_000 } })
    const [large] = content as { text: string }[]
    expect(large?.text === 'x'.repeat(900_000)).toBe(true)
  })

  test('that no hook could see is withheld, and the connection lives', async () => {
    const { client } = await proxied(gateway())
    const [large, small] = await Promise.all([
      client.callTool({ name: 'large', arguments: { size: 2_000_000 } }),
      client.callTool({ name: 'echo', arguments: { n: 1 } }),
    ])
    expect(large).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('the tool ran, but its result was withheld') }],
    })
    expect(small).not.toHaveProperty('isError')
  })

  test('that is a picture passes, and hooks see its size', async () => {
    const { client } = await proxied(gateway())
    const { content } = await client.callTool({ name: 'picture', arguments: { size: 3_000_000 } })
    const [picture, seen] = content as { data?: string; text?: string }[]
    expect(picture?.data === 'A'.repeat(3_000_000)).toBe(true)
    expect(seen?.text).toBe('[hookhelm: 3000000 characters of base64, number 1]')
  })
})

test('the server gets the environment of the client, but not what opens our doors', async () => {
  const env = { API_KEY: 'for the server', HOOKHELM_TOKEN: 'for us' }
  const { client } = await proxied(gateway(), { env })
  const answer = await client.callTool({ name: 'environment' })
  expect(JSON.stringify(answer)).toContain('for the server')
  expect(JSON.stringify(answer)).not.toContain('for us')
})
