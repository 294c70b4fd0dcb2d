import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { modelsOf } from '../../test/handlers/prompt-hook.fixture.ts'
import { namedWorker } from '../../test/handlers/worker.fixture.ts'
import type { Decision, Failure } from '../engine/core/decision.ts'
import type { AgentAnswer } from '../engine/core/host.ts'
import { createHooks, type HookDefinition, type Host } from '../index.ts'
import {
  type BadReceiver,
  badReceiver,
  type FakeAnswer,
  type FakeModel,
  startFakeModel,
} from '../testing/index.ts'
import { createHandlers } from './handlers.ts'

const never = () => new Promise<never>(() => {})

let receiver: BadReceiver
let model: FakeModel
/** What the fake model answers next. */
let modelAnswer: FakeAnswer = {}
beforeAll(async () => {
  receiver = await badReceiver()
  model = await startFakeModel({ script: () => modelAnswer })
})
afterAll(() => Promise.all([receiver.close(), model.close()]))

/** One way in which a handler fails. */
interface Scenario {
  readonly config?: unknown
  readonly input?: Readonly<Record<string, unknown>>
  readonly model?: FakeAnswer
  readonly startAgent?: () => unknown
  readonly run?: () => unknown
  readonly code: string
}

type Row = readonly [handler: string, because: Failure, what: string, scenario: () => Scenario]

const command = (line: string, code: string) => () => ({ config: { command: line }, code })
const worker = (act: string, code: string) => () => ({
  config: { exec: [...namedWorker], worker: true },
  input: { act },
  code,
})
const http = (path: string, code: string) => () => ({ config: { url: receiver.origin + path }, code })
const script = (source: string, code: string) => () => ({ config: { source }, code })
const prompt = (answer: FakeAnswer, code: string) => () => ({
  config: { prompt_template: 'Decide.', model: 'anthropic/haiku' },
  model: answer,
  code,
})
const agent = (startAgent: () => unknown, code: string) => () => ({
  config: { agent_name: 'validator' },
  startAgent,
  code,
})
const run = (fail: () => unknown, code: string) => () => ({ run: fail, code })
const boom = () => {
  throw new Error('boom')
}

const rows: readonly Row[] = [
  ['command', 'error', 'exit 1', command('exit 1', 'process.exit')],
  ['command', 'error', 'a signal', command('kill -9 $$', 'process.signal')],
  ['command', 'timeout', 'it sleeps', command('sleep 60', 'process.timeout')],
  ['command', 'invalid', 'truncated JSON', command(`printf '{"decision":"block"'`, 'handler.result')],
  ['command', 'invalid', 'too much', command('head -c 1200000 /dev/zero', 'process.output_limit')],
  ['command', 'error', 'a worker that dies', worker('die', 'process.exit')],
  ['command', 'timeout', 'a worker that hangs', worker('hang', 'process.timeout')],
  ['command', 'invalid', 'a worker that writes text', worker('garbage', 'process.worker')],
  ['http', 'error', '404', http('/404', 'outbound.status')],
  ['http', 'error', 'a reset', http('/reset', 'outbound.connection')],
  ['http', 'timeout', 'no answer', http('/hang', 'outbound.timeout')],
  ['http', 'timeout', 'half a body', http('/hang-body', 'outbound.timeout')],
  ['http', 'invalid', 'HTML', http('/html', 'handler.result')],
  ['http', 'invalid', 'too large', http('/huge', 'outbound.too_large')],
  ['http', 'invalid', 'broken gzip', http('/broken-gzip', 'outbound.decode')],
  ['prompt', 'error', 'status 500', prompt({ status: 500 }, 'prompt.provider')],
  ['prompt', 'timeout', 'no answer', prompt({ hang: true }, 'prompt.timeout')],
  ['prompt', 'invalid', 'text', prompt({ text: 'looks fine' }, 'prompt.parse')],
  ['prompt', 'invalid', 'no decision', prompt({ calls: [{ tool: 'decide', input: {} }] }, 'prompt.parse')],
  ['prompt', 'invalid', 'a page instead of a response', prompt({ body: '<html>' }, 'prompt.parse')],
  ['script', 'error', 'it throws', script('function handle() { throw new Error("no") }', 'script.error')],
  ['script', 'timeout', 'a loop', script('function handle() { while (true) {} }', 'script.timeout')],
  ['script', 'invalid', 'a number', script('function handle() { return 42 }', 'handler.result')],
  ['script', 'invalid', 'nothing', script('function handle() {}', 'handler.result')],
  ['agent', 'error', 'it fails', agent(boom, 'agent.failed')],
  ['agent', 'timeout', 'no answer', agent(never, 'agent.timeout')],
  ['agent', 'invalid', 'no decision', agent(() => ({ note: 'hm' }), 'agent.output_schema')],
  ['agent', 'invalid', 'text', agent(() => 'looks fine', 'agent.output_schema')],
  ['function', 'error', 'it throws', run(boom, 'handler.error')],
  ['function', 'timeout', 'no answer', run(never, 'handler.timeout')],
  ['function', 'invalid', 'a number', run(() => 42, 'handler.result')],
]

const policyFields = { error: 'on_error', timeout: 'on_timeout', invalid: 'on_invalid' } as const
const allPolicies = (policy: 'allow' | 'block') => ({
  on_error: policy,
  on_timeout: policy,
  on_invalid: policy,
})

/** Sends one event past a hook that fails. */
async function decide(type: string, scenario: Scenario, hook: Partial<HookDefinition>): Promise<Decision> {
  modelAnswer = scenario.model ?? {}
  const { handlers, dispose } = createHandlers({
    models: modelsOf(model),
    outbound: { allow: ['127.0.0.1'] },
  })
  onTestFinished(dispose)
  const host: Host = { startAgent: async () => scenario.startAgent?.() as AgentAnswer }
  const hooks = createHooks({ handlers, host, breaker: false })
  const options = { id: 'h', matcher: '^Bash$', ...hook }
  if (scenario.run !== undefined) hooks.on('pre_tool_use', options, scenario.run as never)
  else hooks.add({ ...options, event: 'pre_tool_use', handler_type: type, config: scenario.config })
  return hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: { ...scenario.input } })
}

/** Only a timeout has to be waited for. */
const timeoutOf = (because: Failure) => ({ timeout_ms: because === 'timeout' ? 900 : 60_000 })

describe('the kind of a failure decides, never the layer that noticed it', () => {
  test.each(rows)('%s, %s: %s', async (type, because, _, create) => {
    const scenario = create()
    const { code } = scenario
    const own = policyFields[because]
    const opened = await decide(type, scenario, {
      ...allPolicies('block'),
      [own]: 'allow',
      ...timeoutOf(because),
    })
    expect(opened).toEqual({ kind: 'allow', opened: [{ hook: 'h', because, code }] })
    const blocked = await decide(type, scenario, {
      ...allPolicies('allow'),
      [own]: 'block',
      ...timeoutOf(because),
    })
    expect(blocked).toMatchObject({
      kind: 'block',
      code,
      by: 'h',
      message: expect.stringContaining(`a hook failed (${because})`),
    })
  })

  test('every handler type that runs something fails in all three ways', () => {
    const types = [
      ...createHandlers({ models: modelsOf(model) }).handlers.map(({ type }) => type),
      'function',
    ].filter((type) => type !== 'answer')
    for (const type of types)
      expect(new Set(rows.filter(([name]) => name === type).map(([, because]) => because)).size).toBe(3)
  })

  test('a script that loops blocks 20 of 20 times with on_timeout: block, on_error: allow', async () => {
    const loop = { config: { source: 'function handle() { while (true) {} }' }, code: 'script.timeout' }
    const policies = { ...allPolicies('allow'), on_timeout: 'block', timeout_ms: 50 } as const
    const decisions = await Promise.all(Array.from({ length: 20 }, () => decide('script', loop, policies)))
    expect(decisions.map(({ kind }) => kind)).toEqual(Array.from({ length: 20 }, () => 'block'))
  })
})
