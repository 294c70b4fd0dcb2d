import { describe, expect, test } from 'vitest'
import { hostWith, message, messageCtx, on, prompt } from '../../test/openclaw/plugins.fixture.ts'
import type { PluginHookName } from './shape/hook-shape.ts'

const answering = (name: PluginHookName, answers: readonly unknown[]) =>
  hostWith(answers.map((answer, index) => on(name, () => answer, { pluginId: `p${index}` }))).runner

describe('prompt and model', () => {
  const resolve = (...answers: unknown[]) =>
    answering('before_model_resolve', answers).runBeforeModelResolve({ prompt: 'hi' }, {})
  const build = (...answers: unknown[]) =>
    answering('before_prompt_build', answers).runBeforePromptBuild(prompt, {})

  test('OC-21 the first model and the first provider win, each for itself', async () => {
    expect(
      await resolve({ modelOverride: 'm1' }, { modelOverride: 'm2', providerOverride: 'p2' }),
    ).toStrictEqual({ modelOverride: 'm1', providerOverride: 'p2' })
    expect(await resolve({ providerOverride: 'p1' }, { providerOverride: 'p2' })).toMatchObject({
      providerOverride: 'p1',
    })
  })

  test('OC-21 null is passed over, an empty text is not', async () => {
    expect(await resolve({ modelOverride: null }, { modelOverride: 'm2' })).toMatchObject({
      modelOverride: 'm2',
    })
    expect(await resolve({ modelOverride: '' }, { modelOverride: 'm2' })).toMatchObject({ modelOverride: '' })
  })

  test('OC-22 OC-51 contexts of a turn and of a heartbeat are joined with a blank line', async () => {
    const answers = [
      { prependContext: 'a', appendContext: 'x' },
      { prependContext: 'b' },
      { appendContext: 'y' },
    ]
    const joined = { prependContext: 'a\n\nb', appendContext: 'x\n\ny' }
    const event = { prompt: 'hi', messages: [], queuedInjections: [] }
    expect(await answering('agent_turn_prepare', answers).runAgentTurnPrepare(event, {})).toStrictEqual(
      joined,
    )
    const heartbeat = answering('heartbeat_prompt_contribution', answers)
    expect(await heartbeat.runHeartbeatPromptContribution({}, {})).toStrictEqual(joined)
  })

  test('OC-23 the first system prompt wins, the four contexts are joined', async () => {
    const answer = (n: number) => ({
      systemPrompt: `s${n}`,
      prependContext: `p${n}`,
      appendContext: `a${n}`,
      prependSystemContext: `ps${n}`,
      appendSystemContext: `as${n}`,
    })
    expect(await build(answer(1), answer(2))).toStrictEqual({
      systemPrompt: 's1',
      prependContext: 'p1\n\np2',
      appendContext: 'a1\n\na2',
      prependSystemContext: 'ps1\n\nps2',
      appendSystemContext: 'as1\n\nas2',
    })
  })

  test('OC-23 fields that nobody set are there, undefined', async () => {
    expect(await build({ prependContext: 'a' })).toStrictEqual({
      systemPrompt: undefined,
      prependContext: 'a',
      appendContext: undefined,
      prependSystemContext: undefined,
      appendSystemContext: undefined,
    })
  })

  test('OC-24 before_agent_start takes the answers of both', async () => {
    const runner = answering('before_agent_start', [
      { prependContext: 'a', modelOverride: 'm1' },
      { prependContext: 'b', modelOverride: 'm2', systemPrompt: 's' },
    ])
    expect(await runner.runBeforeAgentStart({ prompt: 'hi' }, {})).toEqual({
      systemPrompt: 's',
      prependContext: 'a\n\nb',
      modelOverride: 'm1',
    })
  })

  test('OC-58 an empty text from a later handler takes the earlier one away, a missing one does not', async () => {
    expect(await build({ prependContext: 'a' }, { prependContext: '' })).toMatchObject({ prependContext: '' })
    expect(await build({ prependContext: 'a' }, {})).toMatchObject({ prependContext: 'a' })
    expect(await build({ prependContext: '' }, { prependContext: 'b' })).toMatchObject({
      prependContext: 'b',
    })
  })
})

describe('a message that is sent', () => {
  const send = (...answers: unknown[]) =>
    answering('message_sending', answers).runMessageSending(message, messageCtx)

  test('OC-40 the last content wins', async () => {
    expect(await send({ content: 'one' }, { content: 'two' }, {})).toStrictEqual({
      content: 'two',
      cancel: undefined,
    })
  })

  test('OC-59 every handler sees the original content', async () => {
    const seen: string[] = []
    const see = on('message_sending', (event) => {
      seen.push(event.content)
      return { content: 'changed' }
    })
    await hostWith([see, see]).runner.runMessageSending(message, messageCtx)
    expect(seen).toEqual(['hi', 'hi'])
  })

  test('OC-59 a cancelled message keeps the earlier content', async () => {
    expect(await send({ content: 'one' }, { cancel: true }, { content: 'three' })).toEqual({
      content: 'one',
      cancel: true,
    })
  })

  test('OC-59 cancel:false decides nothing', async () => {
    expect(await send({ cancel: false })).toStrictEqual({ content: undefined, cancel: undefined })
  })
})

describe('other claims', () => {
  test('OC-26 a reply is taken from the first plugin that handled it', async () => {
    const claimed = { handled: true, reply: { text: 'a' }, reason: 'dialog' }
    const runner = answering('before_agent_reply', [{ handled: false }, claimed, { handled: true }])
    expect(await runner.runBeforeAgentReply({ cleanedBody: 'hi' }, {})).toBe(claimed)
  })

  test('OC-38 OC-39 so are a dispatch and a reply dispatch', async () => {
    const text = { handled: true, text: 'done' }
    const before = answering('before_dispatch', [text])
    expect(await before.runBeforeDispatch({ content: 'hi' }, {})).toBe(text)
    const sent = { handled: true, queuedFinal: true, counts: { tool: 0, block: 1, final: 1 } }
    const reply = answering('reply_dispatch', [sent])
    expect(await reply.runReplyDispatch({} as never, {} as never)).toBe(sent)
  })
})

describe('an agent that is about to finish', () => {
  const finalize = (...answers: unknown[]) =>
    answering('before_agent_finalize', answers).runBeforeAgentFinalize(
      { sessionId: 's', stopHookActive: false },
      {},
    )
  const revise = (reason: string, instruction?: unknown, more = {}) => ({
    action: 'revise',
    reason,
    ...(instruction === undefined ? {} : { retry: { instruction, ...more } }),
  })

  test('OC-27 OC-60 finalize beats a revision before it and after it', async () => {
    const enough = { action: 'finalize', reason: 'enough' }
    expect(await finalize(revise('more'), enough)).toEqual(enough)
    expect(await finalize({ ...enough, retry: { instruction: 'x' } }, revise('more'))).toStrictEqual(enough)
  })

  test('OC-60 it does not end the chain', async () => {
    let isCalled = false
    const { runner } = hostWith([
      on('before_agent_finalize', () => ({ action: 'finalize' })),
      on('before_agent_finalize', () => {
        isCalled = true
      }),
    ])
    await runner.runBeforeAgentFinalize({ sessionId: 's', stopHookActive: false }, {})
    expect(isCalled).toBe(true)
  })

  test('OC-27 OC-61 two revisions are one, with both reasons and the first instruction', async () => {
    const answer = await finalize(
      revise('lint', 'run lint', { maxAttempts: 1 }),
      revise('tests', 'run tests'),
    )
    expect(answer).toStrictEqual({
      action: 'revise',
      reason: 'lint\n\ntests',
      retry: { instruction: 'run lint', maxAttempts: 1 },
    })
  })

  test('OC-61 all instructions are kept where only those who know look', async () => {
    const answer = await finalize(revise('a', 'A'), revise('b', 'B'), revise('c'), revise('d', 'D'))
    const hidden = Object.getOwnPropertyDescriptor(answer, 'retryCandidates')
    expect(hidden?.enumerable).toBe(false)
    expect(hidden?.value).toEqual([{ instruction: 'A' }, { instruction: 'B' }, { instruction: 'D' }])
    expect(JSON.stringify(answer)).not.toContain('retryCandidates')
  })

  test('OC-61 one instruction alone is not kept twice', async () => {
    expect(await finalize(revise('a', 'A'), revise('b'))).not.toHaveProperty('retryCandidates')
  })

  test.each([
    ['blank', '   '],
    ['a number', 123],
    ['null', null],
  ])('OC-62 an instruction that is %s is dropped', async (_, instruction) => {
    expect(await finalize(revise('a', instruction))).toStrictEqual({ action: 'revise', reason: 'a' })
    const answer = await finalize(revise('a', instruction), revise('b', ' go ', { idempotencyKey: 'k' }))
    expect(answer?.retry).toEqual({ instruction: 'go', idempotencyKey: 'k' })
  })

  test('OC-27 OC-63 a revision stays over a later continue and over silence', async () => {
    const kept = { action: 'revise', reason: 'a' }
    expect(await finalize(revise('a'), { action: 'continue', reason: 'fine' }, {})).toEqual(kept)
    expect(await finalize({ action: 'continue' }, revise('a'))).toEqual(kept)
  })

  test('OC-63 an answer without an action is returned as it is', async () => {
    const empty = {}
    expect(await finalize(empty)).toBe(empty)
    expect(await finalize({ action: 'continue', reason: 'fine', more: 1 })).toStrictEqual({
      action: 'continue',
      reason: 'fine',
    })
  })

  test('OC-27 the last continue counts', async () => {
    expect(
      await finalize({ action: 'continue', reason: 'one' }, { action: 'continue', reason: 'two' }),
    ).toEqual({ action: 'continue', reason: 'two' })
  })
})

describe('sub-agents', () => {
  const spawning = { childSessionKey: 'c', agentId: 'main', mode: 'run', threadRequested: true } as const
  const spawn = (...answers: unknown[]) =>
    answering('subagent_spawning', answers).runSubagentSpawning(spawning, {})

  test('OC-48 OC-64 the first error is final', async () => {
    const error = { status: 'error', error: 'no thread' }
    expect(await spawn({ status: 'ok' }, error, { status: 'ok', threadBindingReady: true })).toBe(error)
    expect(await spawn(error, { status: 'error', error: 'second' })).toBe(error)
  })

  test('OC-64 later handlers still run after an error', async () => {
    let isCalled = false
    const { runner } = hostWith([
      on('subagent_spawning', () => ({ status: 'error', error: 'e' })),
      on('subagent_spawning', () => {
        isCalled = true
      }),
    ])
    await runner.runSubagentSpawning(spawning, {})
    expect(isCalled).toBe(true)
  })

  test('OC-48 OC-64 one plugin that is ready is enough, and the first origin stands', async () => {
    const first = { to: 'a' }
    expect(
      await spawn(
        { status: 'ok' },
        { status: 'ok', deliveryOrigin: first },
        { status: 'ok', threadBindingReady: true, deliveryOrigin: { to: 'b' } },
      ),
    ).toStrictEqual({ status: 'ok', threadBindingReady: true, deliveryOrigin: first })
    expect(await spawn({ status: 'ok' })).toStrictEqual({ status: 'ok', threadBindingReady: false })
  })

  test('OC-49 the first answer with an origin is the target', async () => {
    const target = { origin: { to: 'a' } }
    const event = { childSessionKey: 'c', requesterSessionKey: 'r', expectsCompletionMessage: true }
    const runner = answering('subagent_delivery_target', [{}, target, { origin: { to: 'b' } }])
    expect(await runner.runSubagentDeliveryTarget(event, {})).toBe(target)
  })
})

describe('an install', () => {
  const install = (...answers: unknown[]) =>
    answering('before_install', answers).runBeforeInstall({} as never, {} as never)
  const finding = (ruleId: string) => ({ ruleId, severity: 'warn', file: 'a', line: 1, message: 'm' })

  test('OC-51 findings pile up in order', async () => {
    expect(await install({ findings: [finding('a')] }, {}, { findings: [finding('b')] })).toStrictEqual({
      findings: [finding('a'), finding('b')],
      block: undefined,
      blockReason: undefined,
    })
  })

  test('OC-51 no findings are none at all, and the last reason stands', async () => {
    expect(await install({ findings: [], blockReason: 'one' }, { blockReason: 'two' })).toStrictEqual({
      findings: undefined,
      block: undefined,
      blockReason: 'two',
    })
  })

  test('OC-65 earlier findings survive a block, later handlers are not called', async () => {
    expect(
      await install(
        { findings: [finding('a')] },
        { findings: [finding('b')], block: true, blockReason: 'malware' },
        { findings: [finding('c')] },
      ),
    ).toEqual({ findings: [finding('a'), finding('b')], block: true, blockReason: 'malware' })
  })

  test('OC-51 findings that are no list fail like a handler that throws', async () => {
    expect(await install({ findings: 7, block: true }, { findings: [finding('b')] })).toMatchObject({
      findings: [finding('b')],
      block: undefined,
    })
  })
})
