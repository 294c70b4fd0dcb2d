/**
 * `node test/agents-real/claude-agent-sdk.ts <folder>`: the real Claude Agent SDK, offline, against a fake model. In the folder
 * `npm install @anthropic-ai/claude-agent-sdk@0.3.325` was run. What counts is whether the tool left its file.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createClient } from '../../src/client/index.ts'
import { addContext, ask, block, createHooks, rewrite } from '../../src/index.ts'
import { type ClaudeAgentOptions, createClaudeHooks } from '../../src/sdk/claude-agent-sdk.ts'
import { type FakeRequest, startFake } from './fake-servers/all.mjs'

const folder = process.argv[2]
if (folder === undefined) throw new Error('say where the SDK is installed')
const found = createRequire(join(resolve(folder), 'package.json')).resolve('@anthropic-ai/claude-agent-sdk')
const { query } = await import(pathToFileURL(found).href)

type Hooks = ReturnType<typeof createHooks>

interface Seen {
  made(file: string): boolean
  /** Whether the model was told this. */
  said(text: string): boolean
  readonly requests: number
}

interface Proof {
  readonly name: string
  readonly options?: ClaudeAgentOptions
  readonly prepare?: (hooks: Hooks) => void
  readonly isRight: (seen: Seen) => boolean
}

const SECRET = 'HH-SECRET-99'
const command = `echo ${SECRET} > ran.txt; echo ${SECRET}`
const ended: string[] = []

const proofs: readonly Proof[] = [
  { name: 'no hook', isRight: ({ made }) => made('ran.txt') },
  {
    name: 'allow',
    prepare: (hooks) => void hooks.on('pre_tool_use', () => {}),
    isRight: ({ made }) => made('ran.txt'),
  },
  {
    name: 'block',
    prepare: (hooks) => void hooks.on('pre_tool_use', () => block('HH-REASON')),
    isRight: ({ made, said }) => !made('ran.txt') && said('HH-REASON'),
  },
  {
    name: 'rewrite',
    prepare: (hooks) =>
      void hooks.on('pre_tool_use', () => rewrite({ command: 'echo yes > other.txt', description: 'x' })),
    isRight: ({ made }) => !made('ran.txt') && made('other.txt'),
  },
  {
    name: 'ask',
    prepare: (hooks) => void hooks.on('pre_tool_use', () => ask('sure?')),
    isRight: ({ made }) => !made('ran.txt'),
  },
  {
    name: 'context',
    prepare: (hooks) => void hooks.on('user_prompt_submit', () => addContext('HH-CONTEXT')),
    isRight: ({ said }) => said('HH-CONTEXT'),
  },
  {
    name: 'prompt blocked',
    prepare: (hooks) => void hooks.on('user_prompt_submit', () => block('not that')),
    isRight: ({ made, requests }) => !made('ran.txt') && requests === 0,
  },
  {
    name: 'changed output',
    prepare: (hooks) => void hooks.on('post_tool_use', { transform: true }, () => rewrite('HH-REDACTED')),
    isRight: ({ made, said }) => made('ran.txt') && said('HH-REDACTED'),
  },
  {
    name: 'hook throws',
    prepare: (hooks) =>
      void hooks.on('pre_tool_use', () => {
        throw new Error('broken')
      }),
    isRight: ({ made }) => !made('ran.txt'),
  },
  {
    name: 'slow hook',
    prepare: (hooks) =>
      void hooks.on('pre_tool_use', { timeout_ms: 1_000 }, () => new Promise<undefined>(() => {})),
    isRight: ({ made }) => !made('ran.txt'),
  },
  {
    name: 'later than the SDK waits',
    options: { hooks: createHooks(), timeout: 1 },
    prepare: (hooks) => void hooks.on('pre_tool_use', () => new Promise<undefined>(() => {})),
    isRight: ({ made }) => !made('ran.txt'),
  },
  {
    name: 'no gateway',
    options: { client: createClient({ url: 'http://127.0.0.1:1', token: 'x' }) },
    isRight: ({ made, requests }) => !made('ran.txt') && requests === 0,
  },
  {
    name: 'go on',
    prepare: (hooks) => {
      let stops = 0
      hooks.on('stop', () => (stops++ === 0 ? block('HH-GO-ON') : undefined))
    },
    isRight: ({ said }) => said('HH-GO-ON'),
  },
  {
    name: 'observed',
    prepare: (hooks) => void hooks.on('post_tool_use', ({ tool_name }) => void ended.push(tool_name)),
    isRight: ({ made }) => made('ran.txt') && ended.includes('Bash'),
  },
]

async function prove({ options, prepare, isRight }: Proof): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-agent-sdk-'))
  const cwd = join(home, 'project')
  mkdirSync(cwd)
  const requests: FakeRequest[] = []
  const steps = [{ tool: 'Bash', input: { command, description: 'Say it' } }, { text: 'All done.' }]
  const { server, url } = await startFake(steps, (request) => void requests.push(request))
  const hooks = createHooks()
  prepare?.(hooks)
  const decides = options === undefined || options.hooks !== undefined ? { ...options, hooks } : options
  try {
    const run = query({
      prompt: 'say it',
      options: {
        cwd,
        hooks: createClaudeHooks(decides as ClaudeAgentOptions),
        allowedTools: ['Bash'],
        settingSources: [],
        env: {
          PATH: process.env.PATH,
          HOME: home,
          ANTHROPIC_BASE_URL: url,
          ANTHROPIC_API_KEY: 'dummy',
          DISABLE_AUTOUPDATER: '1',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        },
      },
    })
    for await (const message of run) if (process.env.SHOW) console.log(JSON.stringify(message).slice(0, 300))
  } catch (thrown) {
    if (process.env.SHOW) console.log(String(thrown))
  }
  const asked = requests.filter(({ method, path }) => method === 'POST' && /\/messages(\?|$)/.test(path))
  const seen: Seen = {
    made: (file) => existsSync(join(cwd, file)),
    said: (text) => asked.some(({ body }) => JSON.stringify(body).includes(text)),
    requests: asked.length,
  }
  const right = isRight(seen)
  server.close()
  server.closeAllConnections()
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  return right
}

let failures = 0
for (const proof of proofs) {
  const isRight = await prove(proof)
  if (!isRight) failures += 1
  console.log(`${isRight ? 'ok ' : 'NOT'} claude-agent-sdk ${proof.name}`)
}
console.log(failures === 0 ? 'all as it should be' : `${failures} not as it should be`)
process.exitCode = failures === 0 ? 0 : 1
