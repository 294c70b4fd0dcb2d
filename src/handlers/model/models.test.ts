import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPromptTest, modelsOf } from '../../../test/handlers/prompt-hook.fixture.ts'
import { createOutbound } from '../../safe/outbound/outbound.ts'
import { startFakeModel } from '../../testing/index.ts'
import { askModel } from './ask-model.ts'
import { resolveModel } from './model-name.ts'
import { createModels } from './models.ts'

const { signal } = new AbortController()
const question = { system: 'a', user: 'b' }

async function fakeModel(...script: Parameters<typeof startFakeModel>[0]['script'] & readonly unknown[]) {
  const fake = await startFakeModel({ script })
  onTestFinished(() => fake.close())
  return fake
}

describe('GC-67 the name of a model', () => {
  const all = { providers: { anthropic: {}, openai: {}, google: {}, 'openai-compatible': {} } }
  test.each([
    ['haiku', 'anthropic', 'claude-haiku-4-5'],
    ['sonnet', 'anthropic', 'claude-sonnet-4-5'],
    ['opus', 'anthropic', 'claude-opus-4-5'],
    ['claude-x', 'anthropic', 'claude-x'],
    ['gpt-4o', 'openai', 'gpt-4o'],
    ['o1-mini', 'openai', 'o1-mini'],
    ['o3', 'openai', 'o3'],
    ['gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
    ['qwen3-max', 'openai-compatible', 'qwen3-max'],
    ['llama3:8b', 'openai-compatible', 'llama3:8b'],
    ['openai/qwen3', 'openai', 'qwen3'],
    ['openai-compatible/gpt-4o', 'openai-compatible', 'gpt-4o'],
  ])('%s is served by %s', (name, provider, model) => {
    expect(resolveModel(name, all)).toEqual({ provider, model })
  })

  test('may be given another meaning', () => {
    expect(resolveModel('haiku', { ...all, aliases: { haiku: 'qwen3' } })).toEqual({
      provider: 'openai-compatible',
      model: 'qwen3',
    })
    expect(resolveModel('constructor', all)).toMatchObject({ model: 'constructor' })
  })

  test('that nobody here serves falls to the default', async () => {
    const fake = await fakeModel({ text: 'x' })
    const models = modelsOf(fake, { only: ['google'], default: 'gemini-2' })
    expect(await models.find('haiku')).toMatchObject({ provider: 'google', model: 'gemini-2' })
    expect(await models.find(undefined)).toMatchObject({ model: 'gemini-2' })
    await expect(models.find('openai/gpt-4o')).rejects.toMatchObject({ code: 'prompt.model' })
  })

  test('without a default closes the gate, and haiku is the usual one', async () => {
    const fake = await fakeModel({ text: 'x' })
    const models = modelsOf(fake, { only: ['anthropic'] })
    expect(await models.find(undefined)).toMatchObject({ model: 'claude-haiku-4-5' })
    const { call } = await createPromptTest([], { models, hook: { config: { model: 'gpt-4o' } } })
    expect(await call()).toMatchObject({ kind: 'block', code: 'prompt.model' })
  })
})

describe('a model is reached', () => {
  test('through the fetch that checks addresses', async () => {
    const fake = await fakeModel({ text: 'hello' })
    const reach = (allow: readonly string[]) => {
      const outbound = createOutbound({ allow })
      onTestFinished(() => outbound.dispose())
      const providers = { anthropic: { baseUrl: fake.url('anthropic'), apiKey: 'k' } }
      return createModels({ fetch: outbound.fetch, providers }).find('haiku')
    }
    expect(await askModel(await reach(['127.0.0.1']), question, signal)).toMatchObject({ text: 'hello' })
    await expect(askModel(await reach([]), question, signal)).rejects.toMatchObject({
      code: 'outbound.private_address',
    })
    expect(fake.requests).toHaveLength(1)
  })

  test('with nothing from our environment', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'from-the-environment')
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:1')
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = async (input, init) => {
      asked.push(`${input} ${JSON.stringify(init?.headers)}`)
      throw new TypeError('no network')
    }
    const model = await createModels({ fetch, providers: { anthropic: {} } }).find('haiku')
    await expect(askModel(model, question, signal)).rejects.toMatchObject({ code: 'prompt.provider' })
    expect(asked[0]).toMatch(/^https:\/\/api\.anthropic\.com\/v1\/messages /)
    expect(asked.join()).not.toContain('from-the-environment')
  })

  test('and a slow answer is an answer', async () => {
    const fake = await fakeModel({ text: 'at last', afterMs: 30 })
    const model = await modelsOf(fake).find('haiku')
    expect(await askModel(model, question, signal)).toMatchObject({ text: 'at last', tokens: 120 })
  })

  test('without a warning on stderr for what it does not support, and nothing is stored', async () => {
    const warnings: unknown[] = []
    const listen = (warning: unknown) => warnings.push(warning)
    process.on('warning', listen)
    onTestFinished(() => {
      process.off('warning', listen)
    })
    const fake = await fakeModel({ text: 'x' })
    await askModel(await modelsOf(fake).find('o3-mini'), question, signal)
    expect(fake.requests[0]).toMatchObject({ temperature: undefined, body: { store: false } })
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  })

  test('and what its provider says of a key is not repeated', async () => {
    const key = `sk-proj-${'a1B2'.repeat(12)}`
    const body = JSON.stringify({ error: { message: `Incorrect API key provided: ${key}`, type: 'x' } })
    const fake = await fakeModel({ status: 401, body })
    const model = await modelsOf(fake).find('gpt-4o')
    const failure: Error = await askModel(model, question, signal).then(
      () => expect.unreachable(),
      (thrown) => thrown,
    )
    expect(failure.message).toContain('openai answered 401')
    expect(failure.message).not.toContain(key)
    expect(failure.cause).toBeUndefined()
  })
})
