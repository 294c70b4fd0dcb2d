import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { functionHandler } from '../src/app/gateway/hooks/function-handler.ts'
import type { Host } from '../src/engine/core/handler.ts'
import { answerKeys, eventAnswerKeys } from '../src/handlers/answer-dialects.ts'
import { createHandlers, type HandlerParts } from '../src/handlers/handlers.ts'
import { createModels } from '../src/handlers/model/models.ts'
import { readHookText } from '../src/hook-files/read/read-hook-file.ts'
import { createHooks, type HookDefinition, type Hooks } from '../src/index.ts'
import { createPromptAgentHost } from '../src/runs/runner/prompt-agent-host.ts'
import { type FakeAnswer, startFakeModel } from '../src/testing/index.ts'
import { verifyWebhook } from '../src/webhooks.ts'
import { fencedBlocks } from './guides/read-guide.ts'

const SLOW = { timeout: 120_000 }

const pages = readdirSync('docs/handlers').map((file) => `docs/handlers/${file}`)
const blocks = (page: string, language: string) =>
  fencedBlocks(readFileSync(page, 'utf8')).flatMap((block) =>
    block.language === language ? [block.code] : [],
  )

/** The hook in the n-th YAML block of a page. */
function example(type: string, index = 0): HookDefinition {
  const result = readHookText(blocks(`docs/handlers/${type}.md`, 'yaml')[index] ?? '', `${type}.yaml`)
  if (result.kind === 'bad') throw new Error(JSON.stringify(result.problems))
  const [hook] = result.file.hooks
  if (hook === undefined) throw new Error(`${type}.md has no hook in block ${index}`)
  return hook
}

const noModel: HandlerParts = { models: { find: () => Promise.reject(new Error('no model')) } }

/** The hooks of a process that has this one hook. */
function running(hook: HookDefinition, parts: HandlerParts = noModel, host: Host = {}): Hooks {
  const { handlers, dispose } = createHandlers(parts)
  onTestFinished(dispose)
  const functions = {
    'release-freeze': ({ tool_input }: { tool_input: { command: string } }) =>
      /deploy/.test(tool_input.command) ? { kind: 'block', reason: 'releases are frozen' } : undefined,
  }
  const hooks = createHooks({ handlers: [...handlers, functionHandler.create(functions)], host })
  hooks.add(hook)
  return hooks
}

const call = (tool_name: string, tool_input: Record<string, unknown>) => ({ tool_name, tool_input })
const allowed = { kind: 'allow' }

async function fakeModels(script: readonly FakeAnswer[]) {
  const fake = await startFakeModel({ script })
  onTestFinished(() => fake.close())
  const anthropic = { baseUrl: fake.url('anthropic'), apiKey: 'key' }
  return { fake, models: createModels({ fetch: globalThis.fetch, providers: { anthropic } }) }
}

test.each(pages)('%s: every example is a good hook file, every link leads to a file', (page) => {
  for (const text of blocks(page, 'yaml')) expect(readHookText(text, page)).toMatchObject({ kind: 'good' })
  const prose = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  const links = [...prose.matchAll(/\]\(([^):#]+)(?:#[^)]*)?\)/g)]
  expect(links.map(([, to = '']) => join(dirname(page), to)).filter((path) => !existsSync(path))).toEqual([])
})

test('command.md names every field of an answer that is understood', () => {
  const page = readFileSync('docs/handlers/command.md', 'utf8')
  const keys = [...answerKeys, ...Object.values(eventAnswerKeys).flat()]
  expect(keys.filter((key) => !page.includes(`\`${key}`))).toEqual([])
})

test('command.md: the command blocks with its reason', SLOW, async () => {
  const hooks = running(example('command'))
  expect(await hooks.dispatch('pre_tool_use', call('Bash', { command: 'rm -rf /' }))).toMatchObject({
    kind: 'block',
    reason: 'recursive deletes need a person',
  })
  expect(await hooks.dispatch('pre_tool_use', call('Bash', { command: 'ls' }))).toEqual(allowed)
})

test('command.md: a command receives exactly the JSON of the page', SLOW, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const shown = JSON.parse(blocks('docs/handlers/command.md', 'json')[0] ?? '')
  const config = { command: 'cat > received.json', cwd: folder }
  const hooks = running({ event: 'pre_tool_use', handler_type: 'command', config })
  const { tool_name, tool_input, event_id: id, tenant_id: tenant, agent_id: agentId } = shown
  const { agent_name: agent, session_id: session, run_id: run, turn_id: turn, cwd, tool_use_id } = shown
  const envelope = { id, tenant, agentId, agent, session, run, turn, cwd, toolCall: tool_use_id }
  expect(await hooks.dispatch('pre_tool_use', { tool_name, tool_input }, envelope)).toEqual(allowed)
  expect(JSON.parse(readFileSync(join(folder, 'received.json'), 'utf8'))).toEqual(shown)
})

test('command.md: the worker answers each event', SLOW, async () => {
  const hooks = running(example('command', 1))
  const [fetch, read] = await Promise.all([
    hooks.dispatch('pre_tool_use', call('WebFetch', {})),
    hooks.dispatch('pre_tool_use', call('Read', {})),
  ])
  expect(fetch).toMatchObject({ kind: 'block', reason: 'no network' })
  expect(read).toEqual(allowed)
})

test('http.md: the webhook is signed as the page says, and its answer decides', SLOW, async () => {
  const { config: given, ...hook } = example('http')
  const config = given as { url: string; secret: string }
  const verified: unknown[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    verified.push(
      verifyWebhook(request.headers, body, { secrets: [config.secret] }),
      request.headers['x-team'],
    )
    response.end('{"decision": "block", "reason": "not on a Friday"}')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  const url = config.url.replace('8787', String((server.address() as AddressInfo).port))
  const outbound = { allow: ['127.0.0.1'] }
  const hooks = running({ ...hook, config: { ...config, url } }, { ...noModel, outbound })
  expect(await hooks.dispatch('pre_tool_use', call('Bash', {}))).toMatchObject({
    kind: 'block',
    reason: 'not on a Friday',
  })
  expect(verified).toEqual([undefined, 'platform'])
})

test('prompt.md: the model sees the template and the input, and its call decides', SLOW, async () => {
  const block = { decision: 'block', reason: 'it changes production' }
  const { fake, models } = await fakeModels([{ calls: [{ tool: 'decide', input: block }] }])
  const hooks = running(example('prompt'), { models })
  const decision = await hooks.dispatch('pre_tool_use', call('Bash', { command: 'kubectl delete' }))
  expect(decision).toMatchObject({ kind: 'block', reason: 'it changes production' })
  expect(fake.requests[0]?.system).toContain('Block every command that changes production.')
  expect(fake.requests[0]?.user).toContain('kubectl delete')
})

test('agent.md: the agent gets the task and the event, and its answer decides', SLOW, async () => {
  const block = { action: 'block', block_reason: 'it contains a key' }
  const { fake, models } = await fakeModels([{ calls: [{ tool: 'answer', input: block }] }])
  const hooks = running(example('agent'), { models }, createPromptAgentHost({ models }))
  const decision = await hooks.dispatch('pre_tool_use', call('Write', { content: 'AKIA' }))
  expect(decision).toMatchObject({ kind: 'block', reason: 'it contains a key' })
  expect(fake.requests[0]?.user).toContain('contains no credentials')
})

test('script.md: the script blocks and allows', SLOW, async () => {
  const hooks = running(example('script'))
  const fetched = (url: string) => hooks.dispatch('pre_tool_use', call('WebFetch', { url }))
  expect(await fetched('https://a.example/?token=1')).toMatchObject({
    kind: 'block',
    reason: 'the URL contains a credential',
  })
  expect(await fetched('https://a.example/')).toEqual(allowed)
})

test('answer.md: the hook answers what is written, and only where it matches', async () => {
  const hooks = running(example('answer'))
  const run = (command: string) => hooks.dispatch('pre_tool_use', call('Bash', { command }))
  expect(await run('npm publish')).toMatchObject({
    kind: 'block',
    reason: expect.stringContaining('Open a pull request'),
  })
  expect(await run('npm test')).toEqual(allowed)
})

test('function.md: the hook calls the function of the program', async () => {
  const hooks = running(example('function'))
  expect(await hooks.dispatch('pre_tool_use', call('Bash', { command: 'deploy' }))).toMatchObject({
    kind: 'block',
    reason: 'releases are frozen',
  })
  expect(await hooks.dispatch('pre_tool_use', call('Bash', { command: 'ls' }))).toEqual(allowed)
})
