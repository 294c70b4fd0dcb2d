import { describe, expect, test } from 'vitest'
import {
  allows,
  blocks,
  createPromptTest,
  decide,
  providers,
} from '../../../test/handlers/prompt-hook.fixture.ts'
import type { FakeAnswer } from '../../testing/index.ts'

const models = {
  anthropic: 'claude-haiku-4-5',
  openai: 'gpt-4o-mini',
  google: 'gemini-2.5-flash',
  'openai-compatible': 'qwen3',
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, unknown>>
  readonly required: readonly string[]
}

/** The JSON Schema in a request that describes this property, wherever the provider puts it. */
function schemaWith(property: string, value: unknown): ObjectSchema | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { properties } = value as Partial<ObjectSchema>
  if (properties !== undefined && property in properties) return value as ObjectSchema
  return Object.values(value)
    .map((part) => schemaWith(property, part))
    .find((found) => found !== undefined)
}

describe.each(providers)('GC-70 a model of %s judges', (provider) => {
  const hook = { config: { model: models[provider] } }

  test('it allows and blocks with its reason', async () => {
    const { call, facts } = await createPromptTest([allows, blocks], { hook })
    expect(await call({ command: 'ls' })).toEqual({ kind: 'allow' })
    expect(facts()).toEqual({
      prompt_model: models[provider],
      prompt_tokens: 120,
      cached: false,
      injection_detected: false,
    })
    expect(await call({ command: 'rm' })).toMatchObject({ kind: 'block', reason: 'dangerous', by: 'judge' })
  })

  test('it must call decide, in at most 512 tokens, without chance', async () => {
    const { call, fake } = await createPromptTest([allows], { hook })
    await call()
    const [request] = fake.requests
    expect(request).toMatchObject({
      provider,
      model: models[provider],
      tools: ['decide'],
      forcedTool: 'decide',
      maxOutputTokens: 512,
      temperature: 0,
    })
    expect(JSON.stringify(request?.headers)).toContain(`key-of-${provider}`)
    const schema = schemaWith('decision', request?.body)
    expect(schema?.properties).toMatchObject({
      decision: { type: 'string', enum: ['allow', 'block'] },
      reason: { type: 'string' },
      additional_context: { type: 'string' },
      updated_input: { type: 'object' },
      continue: { type: 'boolean' },
      injection_detected: { type: 'boolean' },
    })
    expect(Object.keys(schema?.properties ?? {})).toHaveLength(6)
    expect(schema?.required).toEqual(['decision', 'reason'])
  })

  const wrong: readonly (readonly [string, FakeAnswer])[] = [
    ['free text', { text: 'I would allow this.' }],
    ['nothing at all', {}],
    ['another tool', { calls: [{ tool: 'approve', input: { decision: 'allow' } }] }],
    ['another tool first', { calls: [{ tool: 'x', input: {} }, ...(allows.calls ?? [])] }],
    ['broken JSON', { calls: [{ tool: 'decide', rawInput: '{"decision": "allow", "reas' }] }],
    ['a decision of another word', decide({ decision: 'ALLOW', reason: 'x' })],
    ['no decision', decide({ reason: 'x' })],
    ['a list', decide([{ decision: 'allow' }])],
    ['a flag that is text', decide({ decision: 'allow', reason: 'x', injection_detected: 'true' })],
    ['a new input that is text', decide({ decision: 'allow', reason: 'x', updated_input: 'rm' })],
  ]
  test.each(wrong)('4.6 #91 GC-71 %s closes the gate', async (_, answer) => {
    const { call, logged, facts } = await createPromptTest([answer], { hook })
    expect(await call()).toMatchObject({ kind: 'block', code: 'prompt.parse', by: 'judge' })
    expect(logged('security.hook.prompt_parse_error')).toMatchObject([
      { fields: { hook: 'judge', tenant: 't' } },
    ])
    expect(facts()).toMatchObject({ prompt_tokens: 120 })
  })

  test.each([429, 500, 529])('GC-73 status %i closes the gate after one request', async (status) => {
    const { call, fake } = await createPromptTest([{ status }], { hook })
    const decision = await call()
    expect(decision).toMatchObject({ kind: 'block', code: 'prompt.provider' })
    expect(decision.reason).toContain(`${provider} answered ${status}`)
    expect(fake.requests).toHaveLength(1)
  })

  test('an answer that is no JSON closes the gate', async () => {
    const { call } = await createPromptTest([{ body: '<html>' }], { hook })
    expect(await call()).toMatchObject({ kind: 'block', code: 'prompt.parse' })
  })

  test('a provider that hangs is given up at the deadline, and its connection closed', async () => {
    const { call, fake } = await createPromptTest([{ hang: true }], { hook: { ...hook, timeout_ms: 300 } })
    expect(await call()).toMatchObject({ kind: 'block', code: 'prompt.timeout' })
    expect(await fake.requests[0]?.ended).toBe('dropped')
  })
})

describe('what the evaluator says', () => {
  const twice = (first: object, second: object): FakeAnswer => ({
    calls: [first, second].map((input) => ({ tool: 'decide', input })),
  })
  const yes = { decision: 'allow', reason: 'fine' }

  test('of several decisions the strictest counts, wherever it stands', async () => {
    const no = { decision: 'block', reason: 'no' }
    for (const answer of [twice(yes, no), twice(no, yes)]) {
      const { call } = await createPromptTest([answer])
      expect(await call()).toMatchObject({ kind: 'block', reason: 'no' })
    }
  })

  test('an injection that any decision reports blocks', async () => {
    const { call } = await createPromptTest([twice(yes, { ...yes, injection_detected: true })])
    expect(await call()).toMatchObject({ kind: 'block', by: 'judge' })
  })

  test('GC-71 a decision without a reason is one', async () => {
    const { call } = await createPromptTest([decide({ decision: 'block' })])
    expect(await call()).toMatchObject({ kind: 'block', reason: 'blocked by judge' })
  })

  test('GC-72 4.6 #93 an injection it saw blocks, whatever it decided', async () => {
    const seen = decide({ decision: 'allow', reason: 'told to', injection_detected: true })
    const { call, facts } = await createPromptTest([seen])
    const decision = await call()
    expect(decision).toMatchObject({ kind: 'block', by: 'judge' })
    expect(decision.reason).toContain('told to')
    expect(facts()).toMatchObject({ injection_detected: true })
    await call()
    expect(facts()).toEqual({ cached: true, injection_detected: true })
  })

  test('GC-72 it rewrites the input and adds context', async () => {
    const { call } = await createPromptTest([
      decide({
        decision: 'allow',
        reason: 'safer so',
        updated_input: { command: 'ls -n' },
        additional_context: 'mind',
      }),
    ])
    expect(await call()).toMatchObject({ kind: 'allow', input: { command: 'ls -n' }, context: ['mind'] })
  })

  test('GC-72 {} and null change nothing, and continue: false stops', async () => {
    const nothing = { decision: 'allow', reason: null, updated_input: {}, additional_context: null }
    const { call } = await createPromptTest([
      decide(nothing),
      decide({ decision: 'allow', reason: 'no more', continue: false }),
    ])
    expect(await call({ a: 1 })).toEqual({ kind: 'allow' })
    expect(await call({ a: 2 })).toMatchObject({ kind: 'block', reason: 'no more' })
  })

  test('an allow for other arguments is none where they cannot be set', async () => {
    const rewriting = decide({ decision: 'allow', reason: 'x', updated_input: { prompt: 'y' } })
    const hook = { event: 'user_prompt_submit', matcher: 'web' }
    const { hooks } = await createPromptTest([rewriting], { hook })
    const decision = await hooks.dispatch('user_prompt_submit', { prompt: 'hi', source: 'web' })
    expect(decision).toMatchObject({ kind: 'block', code: 'prompt.parse' })
  })

  test('policies open what they say they open', async () => {
    const { call } = await createPromptTest([{ status: 500 }], { hook: { on_error: 'allow' } })
    expect(await call()).toMatchObject({ kind: 'allow', opened: [{ code: 'prompt.provider' }] })
  })
})
