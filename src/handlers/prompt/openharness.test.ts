import { describe, expect, test } from 'vitest'
import { createPromptTest } from '../../../test/handlers/prompt-hook.fixture.ts'
import { memoryTokenBudget } from '../../../test/memory-token-budget.fixture.ts'
import type { HookDefinition } from '../../index.ts'
import { type FakeAnswer, fakeClock } from '../../testing/index.ts'
import { readOk } from './openharness.ts'

function checked(script: readonly FakeAnswer[], config: object = {}, hook: Partial<HookDefinition> = {}) {
  return createPromptTest(script, {
    hook: { ...hook, matcher: '.', config: { format: 'openharness', prompt: 'Safe? $ARGUMENTS', ...config } },
    budget: memoryTokenBudget({ total: 200, clock: fakeClock() }),
  })
}

const says = (text: string): FakeAnswer => ({ text })

describe('OH-36 a check in the OpenHarness form', () => {
  test('is one request for strict JSON, without tools', async () => {
    const { call, fake, facts } = await checked([says('{"ok": true}')])
    expect(await call({ command: 'ls' })).toEqual({ kind: 'allow' })
    const [request] = fake.requests
    expect(request).toMatchObject({ tools: [], forcedTool: undefined, maxOutputTokens: 512, temperature: 0 })
    expect(request?.system).toContain('{"ok": true}')
    expect(request?.system).toContain('{"ok": false, "reason": "..."}')
    expect(facts()).toEqual({ prompt_model: 'claude-haiku-4-5', prompt_tokens: 120, cached: false, ok: true })
  })

  test('$ARGUMENTS is the event, unquoted', async () => {
    const { call, fake } = await checked([says('yes')])
    await call({ command: "echo 'a' $& $ARGUMENTS" })
    const user = fake.requests[0]?.user ?? ''
    expect(user.startsWith('Safe? {')).toBe(true)
    expect(JSON.parse(user.slice('Safe? '.length))).toMatchObject({
      event: 'pre_tool_use',
      tool_name: 'Bash',
      tool_input: { command: "echo 'a' $& $ARGUMENTS" },
    })
  })

  test('the names of the seed are filled in, once', async () => {
    const prompt = 'Is this tool call safe? {tool_name} with args {args} on {file}{result}'
    const { call, fake } = await checked([says('yes')], { prompt })
    await call({ path: '{tool_name}' })
    const [request] = fake.requests
    expect(request?.user).toBe('Is this tool call safe? Bash with args {"path":"{tool_name}"} on {tool_name}')
  })

  test('OH-43 blocks with its reason', async () => {
    const { call } = await checked([says('{"ok": false, "reason": "deletes files"}')])
    expect(await call()).toMatchObject({ kind: 'block', reason: 'deletes files', by: 'judge' })
  })

  test.each([{ block_on_failure: false }, { can_block: false }])('%j only looks', async (config) => {
    const { call, facts } = await checked([says('{"ok": false, "reason": "no"}'), { status: 500 }], config)
    expect(await call()).toEqual({ kind: 'allow' })
    expect(facts()).toMatchObject({ ok: false, reason: 'no' })
    expect(await call()).toEqual({ kind: 'allow' })
    expect(facts()?.reason).toContain('answered 500')
  })

  test('OH-42 a failure of the provider becomes a result', async () => {
    const { call } = await checked([{ status: 500 }])
    expect(await call()).toMatchObject({ kind: 'block', code: 'prompt.provider' })
  })

  test('OH-41 its timeout is kept', async () => {
    const { call, fake } = await checked([{ hang: true }], {}, { timeout_ms: 200 })
    expect(await call()).toMatchObject({ kind: 'block', code: 'prompt.timeout' })
    expect(await fake.requests[0]?.ended).toBe('dropped')
  })

  test('GC-74 it draws on the same budget', async () => {
    const { call } = await checked([says('ok')])
    await call()
    await call()
    expect(await call()).toMatchObject({ kind: 'block', code: 'prompt.budget' })
  })
})

describe('OH-39 OH-40 the answer', () => {
  test.each([
    ['{"ok": true}', true, ''],
    [' {"ok":true,"reason":"x"} ', true, ''],
    ['OK', true, ''],
    [' Yes\n', true, ''],
    ['true', true, ''],
    ['{"ok": false}', false, 'hook rejected the event'],
    ['{"ok": false, "reason": "no"}', false, 'no'],
    ['{"ok": "true"}', false, '{"ok": "true"}'],
    ['{"ok": false, "ok": true}', false, '{"ok": false, "ok": true}'],
    ['```json\n{"ok": true}\n```', false, '```json\n{"ok": true}\n```'],
    ['Looks fine.', false, 'Looks fine.'],
    ['[true]', false, '[true]'],
    ['', false, 'hook returned invalid JSON'],
  ])('%j', (text, ok, reason) => {
    expect(readOk(text)).toMatchObject(ok ? { ok } : { ok, reason })
  })
})
