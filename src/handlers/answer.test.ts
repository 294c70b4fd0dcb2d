import { expect, test } from 'vitest'
import { createHooks } from '../index.ts'
import { answerHandler } from './answer.ts'

const event = 'pre_tool_use'
const push = { tool_name: 'Bash', tool_input: { command: 'git push' } }

function withAnswer(config: unknown) {
  const hooks = createHooks({ handlers: [answerHandler.create(undefined as never)] })
  hooks.add({ id: 'fixed', event, handler_type: 'answer', config })
  return hooks
}

test('each decision is given as it is written, with its reason and its message', async () => {
  const block = withAnswer({ decision: 'block', reason: 'r', message: 'open a pull request' })
  expect(await block.dispatch(event, push)).toMatchObject({
    kind: 'block',
    by: 'fixed',
    reason: 'r',
    message: 'open a pull request',
  })
  const ask = withAnswer({ decision: 'ask', reason: 'r' })
  expect(await ask.dispatch(event, push)).toMatchObject({ kind: 'ask', reason: 'r', message: 'r' })
  const allow = withAnswer({ decision: 'allow', reason: 'r' })
  const decision = await allow.dispatch(event, push)
  expect(decision.kind).toBe('allow')
  // No objection is not a permission: the agent's own rules still apply.
  expect(decision.grant).toBeUndefined()
})

test.each([
  [{ decision: 'block' }, 'config.field'],
  [{ decision: 'deny', reason: 'r' }, 'config.field'],
  [{ decision: 'block', reason: '' }, 'config.field'],
  [{ decision: 'block', reason: 'r', raeson: 'r' }, 'config.field'],
])('%j is refused when the hook is registered', (config, code) => {
  expect(() => withAnswer(config)).toThrow(expect.objectContaining({ code }))
})
