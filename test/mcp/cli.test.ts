import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { shared } from '../gateway/running.fixture.ts'
import { httpFiles } from './http-server.fixture.ts'
import { addHooks, filesServerArgv, folder, proxied, proxyMain } from './proxied.fixture.ts'

const gateway = shared()
beforeAll(() => addHooks(gateway()))

interface Started {
  /** Everything on stderr until the words are there, or all of it. */
  until(words: string): Promise<string>
  stop(): void
  readonly exited: Promise<number | null>
}

function start(...args: string[]): Started {
  const env = { ...process.env, XDG_STATE_HOME: folder() }
  const child = spawn(process.execPath, [proxyMain, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  const listeners = new Set<() => void>()
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    for (const listener of listeners) listener()
  })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    exited,
    stop: () => child.kill('SIGTERM'),
    until: (words) =>
      new Promise((resolve) => {
        const look = () => text.includes(words) && resolve(text)
        listeners.add(look)
        look()
        void exited.then(() => resolve(text))
      }),
  }
}

test('without a gateway the hook files of the user and the directory decide', async () => {
  const home = folder()
  mkdirSync(join(home, 'own'))
  const hook = { event: 'pre_tool_use', matcher: '^mcp__files__echo$', handler_type: 'script' }
  const source = `function handle(e) { return { decision: e.toolInput.n > 1 ? 'block' : 'allow', reason: 'too many' } }`
  writeFileSync(join(home, 'own', 'hooks.json'), JSON.stringify({ hooks: [{ ...hook, config: { source } }] }))
  const env = { HOOKHELM_HOME: join(home, 'own'), HOME: home }
  const { client } = await proxied(gateway(), { args: ['--local', '--cwd', home], env })
  const echo = (n: number) => client.callTool({ name: 'echo', arguments: { n } })
  expect(await echo(1)).toMatchObject({ content: [{ text: 'n is 1' }] })
  expect(await echo(2)).toMatchObject({ isError: true, content: [{ text: 'too many' }] })
})

test('a gateway is also asked by its address, with its token', async () => {
  const env = { HOOKHELM_TOKEN: gateway().token }
  const { client } = await proxied(gateway(), { args: ['--url', gateway().url], env })
  expect(await client.callTool({ name: 'read_secret' })).toMatchObject({
    content: [{ text: 'the secret is [gone]' }],
  })
})

test('in front of a server over HTTP', async () => {
  const server = await httpFiles('events')
  const proxy = start('--socket', gateway().socket ?? '', '--listen', '127.0.0.1:0', '--to', server.url)
  const [url = ''] = /http:\S+/.exec(await proxy.until('listens on')) ?? []
  const client = new Client({ name: 'http-client', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never)
  expect(await client.callTool({ name: 'read_secret' })).toMatchObject({
    content: [{ text: 'the secret is [gone]' }],
  })
  proxy.stop()
  expect(await proxy.exited).toBe(0)
})

test.each([
  ['nothing to stand in front of', [], 'give either'],
  ['two of them', ['--to', 'http://127.0.0.1:1/', '--', 'cat'], 'give either'],
  ['an address to listen on alone', ['--listen', '127.0.0.1:0'], '--listen takes'],
  ['an address that is none', ['--listen', '127.0.0.1:0', '--to', 'file:///etc/passwd'], 'config.url'],
  ['an address of the network', ['--listen', '0.0.0.0:0', '--to', 'http://127.0.0.1:1/'], 'gateway.exposed'],
  ['a policy that is none', ['--changed-tools', 'maybe', '--', 'cat'], '--changed-tools takes'],
  ['a time that is none', ['--within', 'soon', '--', 'cat'], '--within must be'],
  ['a flag that nobody knows', ['--nmae', 'x', '--', 'cat'], 'Did you mean --name?'],
])('%s is refused', async (_, args, words) => {
  const proxy = start(...args)
  expect(await proxy.until(words)).toContain(words)
  expect(await proxy.exited).toBe(1)
})

test('flags behind the dashes are the server’s', async () => {
  const { client } = await proxied(gateway(), { server: [...filesServerArgv, '--name', 'other', '--local'] })
  expect(client.getServerVersion()).toMatchObject({ name: 'files' })
})
