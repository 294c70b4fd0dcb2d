import { describe, expect, test } from 'vitest'
import { createAgentTest } from '../../../test/handlers/agent-hook.fixture.ts'

const invalid = { kind: 'block', code: 'agent.output_schema', by: 'a' }

describe('an agent answers', () => {
  test.each([
    ['continue', { action: 'continue' }],
    ['continue with nothing changed', { action: 'continue', parameters: {} }],
    ['the same as text', '{"action": "continue", "parameters": null}'],
    ['ok', { ok: true, reason: 'fine' }],
    ['our own shape', { kind: 'allow' }],
  ])('%s: the run goes on', async (_, answer) => {
    expect(await createAgentTest(() => answer).run()).toEqual({ kind: 'allow' })
  })

  test('other parameters, which replace the ones that were', async () => {
    const decision = await createAgentTest(() => ({ action: 'continue', parameters: { path: '/y' } })).run()
    expect(decision).toMatchObject({ kind: 'allow', input: { path: '/y' }, original: { path: '/x' } })
  })

  test.each([
    [{ action: 'block', block_reason: 'not yours' }, 'not yours'],
    [{ action: 'block' }, 'blocked by a'],
    [{ ok: false, reason: 'no' }, 'no'],
    [{ ok: false }, 'hook rejected the event'],
    [{ kind: 'block', reason: 'own' }, 'own'],
    [{ decision: 'deny', reason: 'dialect' }, 'dialect'],
  ])('%j: the run is blocked', async (answer, reason) => {
    expect(await createAgentTest(() => answer).run()).toMatchObject({ kind: 'block', reason, by: 'a' })
  })

  test.each([
    [{ action: 'BLOCK', block_reason: 'x' }],
    [{ action: 'deny' }],
    [{ action: true }],
    [{}],
    [{ parameters: { path: '/y' } }],
    [{ action: 'continue', parameters: 'all' }],
    [{ action: 'block', block_reason: 5 }],
    [{ action: 'continue', ok: false }],
    [{ ok: 'true' }],
    [{ decision: 'perhaps' }],
    ['no JSON'],
    ['[1]'],
    ['{"action": "continue", "action": "block"}'],
    [null],
    [undefined],
    [7],
    [[{ action: 'continue' }]],
  ])('4.6 #100 %j is no answer, and closes the run', async (answer) => {
    expect(await createAgentTest(() => answer).run()).toMatchObject(invalid)
  })

  test('4.6 #100 on_invalid decides, with the parameters that were', async () => {
    const { run } = createAgentTest(() => ({ action: 'BLOCK' }), { on_invalid: 'allow' })
    const decision = await run()
    expect(decision).toMatchObject({ kind: 'allow', opened: [{ code: 'agent.output_schema' }] })
    expect(decision.input).toBeUndefined()
  })

  test('4.6 #100 what its schema refuses is no answer', async () => {
    const schema = {
      type: 'object',
      required: ['action', 'score'],
      properties: { score: { type: 'number' } },
    }
    const config = { agent_name: 'v', output_schema: schema }
    const { run, requests } = createAgentTest(() => ({ action: 'continue' }), { config })
    const decision = await run()
    expect(decision).toMatchObject(invalid)
    expect(decision.reason).toContain("must have required property 'score'")
    expect(requests[0]?.output_schema).toEqual(schema)
  })

  test('parameters where there are none to change are no answer', async () => {
    const { hooks } = createAgentTest(() => ({ action: 'continue', parameters: { a: 1 } }), {
      event: 'user_prompt_submit',
    })
    expect(await hooks.dispatch('user_prompt_submit', { prompt: 'x' })).toMatchObject(invalid)
  })
})
