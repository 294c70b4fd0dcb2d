import { describe, expect, test } from 'vitest'
import { addContext, allow, ask, block, createHooks, rewrite } from '../../src/index.ts'
import { type ClaudeAgentOptions, createClaudeHooks } from '../../src/sdk/claude-agent-sdk.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { payload } from '../agents/payloads.fixture.ts'
import { shared } from '../gateway/running.fixture.ts'
import { answerNext, askingHook, clientOf, clientOfNobody, scriptHook } from './deciders.fixture.ts'

const { signal } = new AbortController()

/** Calls the callback as the SDK does: with the payload that Claude Code sent. */
async function fire(options: ClaudeAgentOptions, name: string, given = payload('claude-code', name)) {
  const [event = ''] = name.split('.')
  const callback = createClaudeHooks(options)[event]?.[0]?.hooks[0]
  if (callback === undefined) throw new Error(`nothing listens to ${event}`)
  return callback(given, 'toolu_0001', { signal })
}

const specific = (hookSpecificOutput: object) => ({ hookSpecificOutput })

describe('before a tool call', () => {
  test.each([
    ['no objection', () => undefined, {}],
    [
      'a block',
      () => block('policy 7', 'No.'),
      { permissionDecision: 'deny', permissionDecisionReason: 'No.' },
    ],
    ['a question', () => ask('sure?'), { permissionDecision: 'ask', permissionDecisionReason: 'sure?' }],
    ['a changed input', () => rewrite({ command: 'ls' }), { updatedInput: { command: 'ls' } }],
    ['added context', () => addContext('mind you'), { additionalContext: 'mind you' }],
    ['a grant', () => allow({ grant: true, reason: 'fine' }), { permissionDecision: 'allow' }],
  ])('%s is answered as Claude Code honours it', async (_, hook, output) => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', hook)
    const answer = await fire({ hooks }, 'PreToolUse')
    if (Object.keys(output).length === 0) return expect(answer).toEqual({})
    expect(answer).toMatchObject(specific({ hookEventName: 'PreToolUse', ...output }))
  })

  test('hooks learn where it belongs', async () => {
    const hooks = createHooks()
    const seen: unknown[] = []
    hooks.on('pre_tool_use', (_, { envelope }) => void seen.push(envelope))
    await fire({ hooks, agent: 'chief' }, 'PreToolUse')
    await fire({ hooks, agent: 'chief' }, 'PreToolUse.in-subagent')
    expect(seen).toMatchObject([
      {
        host: 'claude-agent-sdk',
        agent: 'chief',
        session: '00000000-0000-4000-8000-000000000001',
        turn: '00000000-0000-4000-8000-000000000002',
        toolCall: 'toolu_0001',
        cwd: '/home/user/project',
      },
      { agent: 'general-purpose', parentAgent: 'chief', depth: 1, lane: 'a000000000000001' },
    ])
  })

  test('the payload of the SDK is not frozen', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => {})
    const given = payload('claude-code', 'PreToolUse')
    await fire({ hooks }, 'PreToolUse', given)
    expect(Object.isFrozen(given.tool_input)).toBe(false)
  })
})

describe('without a clear answer a tool call is denied', () => {
  const denied = specific({ permissionDecision: 'deny' })

  test('a hook that throws', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => {
      throw new Error('broken')
    })
    expect(await fire({ hooks }, 'PreToolUse')).toMatchObject(denied)
  })

  test('a hook that does not answer in time', async () => {
    const clock = fakeClock()
    const hooks = createHooks({ clock })
    hooks.on('pre_tool_use', () => new Promise<undefined>(() => {}))
    const fired = fire({ hooks }, 'PreToolUse')
    await clock.advance(10_000)
    expect(await fired).toMatchObject(denied)
  })

  test('no gateway', async () => {
    expect(await fire({ client: clientOfNobody() }, 'PreToolUse')).toMatchObject(denied)
    expect(await fire({ client: clientOfNobody() }, 'UserPromptSubmit')).toMatchObject({ decision: 'block' })
    expect(await fire({ client: clientOfNobody() }, 'PermissionRequest')).toMatchObject(
      specific({ decision: { behavior: 'deny' } }),
    )
  })

  test('but nobody has to go on working because there is no gateway', async () => {
    expect(await fire({ client: clientOfNobody() }, 'Stop')).toEqual({})
  })

  test('a payload that cannot be read fails, which the SDK is told to take for a block', async () => {
    const hooks = createHooks()
    hooks.on('pre_tool_use', () => {})
    await expect(
      fire({ hooks }, 'PreToolUse', { hook_event_name: 'PreToolUse', tool_name: 7 }),
    ).rejects.toThrow()
    expect(createClaudeHooks({ hooks }).PreToolUse).toMatchObject([{ onFailure: 'block', timeout: 60 }])
  })
})

test('only what guards something blocks when it fails', () => {
  const all = Object.entries(createClaudeHooks({ hooks: createHooks() }))
  const closed = all.filter(([, [matcher]]) => matcher?.onFailure === 'block').map(([name]) => name)
  expect(closed.toSorted()).toEqual(['PermissionRequest', 'PreToolUse', 'UserPromptSubmit'])
  // The one has to make the work tree itself, the other comes with every word.
  expect(all.map(([name]) => name)).not.toContain('WorktreeCreate')
  expect(all.map(([name]) => name)).not.toContain('MessageDisplay')
})

test('results are changed in the shape of the tool, prompts and stops are blocked', async () => {
  const hooks = createHooks()
  hooks.on('post_tool_use', { transform: true }, () => rewrite('[redacted]'))
  hooks.on('user_prompt_submit', () => block('not that'))
  hooks.on('stop', () => block('run the tests'))
  expect(await fire({ hooks }, 'PostToolUse')).toMatchObject(
    specific({ updatedToolOutput: { stdout: '[redacted]', stderr: '' } }),
  )
  expect(await fire({ hooks }, 'UserPromptSubmit')).toEqual({ decision: 'block', reason: 'not that' })
  expect(await fire({ hooks }, 'Stop')).toEqual({ decision: 'block', reason: 'run the tests' })
})

test('observers are told, and what cannot be carried out is logged', async () => {
  const hooks = createHooks()
  const seen: unknown[] = []
  const logged: string[] = []
  hooks.on('subagent_stop', ({ agent_type }) => void seen.push(agent_type))
  hooks.on('subagent_start', () => block('no'))
  const options = { hooks, log: (name: string) => void logged.push(name) }
  expect(await fire(options, 'SubagentStop')).toEqual({})
  expect(await fire(options, 'SubagentStart')).toEqual({})
  await hooks.drain()
  expect(seen).toEqual(['general-purpose'])
  expect(logged).toEqual(['agent.undelivered'])
})

describe('with a gateway', () => {
  const gateway = shared()

  test('calls are denied there', async () => {
    await gateway().hook(scriptHook('pre_tool_use', '^Bash$', 'return { decision: "block", reason: "no" }'))
    expect(await fire({ client: clientOf(gateway()) }, 'PreToolUse')).toMatchObject(
      specific({ permissionDecision: 'deny', permissionDecisionReason: 'no' }),
    )
  })
})

describe('with a gateway that asks', () => {
  const gateway = shared()

  test('a question is answered there, and the SDK waits that long', async () => {
    await gateway().hook(askingHook('^Bash$'))
    const options = { client: clientOf(gateway()), waitMs: 120_000 }
    expect(createClaudeHooks(options).PreToolUse).toMatchObject([{ onFailure: 'block', timeout: 180 }])
    const answered = fire(options, 'PreToolUse')
    await answerNext(gateway(), 'approve')
    expect(await answered).toMatchObject(specific({ permissionDecision: 'allow' }))
  })
})
