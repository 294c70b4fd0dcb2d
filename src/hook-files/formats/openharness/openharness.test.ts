import { describe, expect, test } from 'vitest'
import { prepareConfig } from '../../../../test/handlers/handlers.fixture.ts'
import { imported, refused } from '../../../../test/hook-files/imported.fixture.ts'
import { importFile } from '../../../agents/import-file.ts'
import { compileMatcher } from '../../../engine/match/matcher.ts'
import type { ImportSource } from '../import-format.ts'

const importOpenHarness = (given: ImportSource) => importFile(given, 'openharness')

const from = (hooks: object) => imported(importOpenHarness({ hooks }))
const command = { type: 'command', command: 'check $ARGUMENTS' }

test('OH-2 OH-3 OH-10 lists per event keep their order', async () => {
  const events = [
    'session_start',
    'session_end',
    'pre_compact',
    'post_compact',
    'pre_tool_use',
    'post_tool_use',
    'user_prompt_submit',
    'notification',
    'stop',
    'subagent_stop',
  ]
  const { definitions } = await from(
    Object.fromEntries(events.map((event) => [event, [command, { type: 'http', url: 'https://a.example' }]])),
  )
  expect(definitions.map(({ event, handler_type }) => `${event} ${handler_type}`)).toEqual(
    events.flatMap((event) => [`${event} command`, `${event} http`]),
  )
})

test.each([
  ['command', command, 'allow', 30_000],
  ['http', { type: 'http', url: 'https://a.example' }, 'allow', 30_000],
  ['prompt', { type: 'prompt', prompt: 'ok? $ARGUMENTS' }, 'block', 30_000],
  ['agent', { type: 'agent', prompt: 'ok?', model: null }, 'block', 60_000],
])('OH-6 OH-7 the defaults of a %s hook', async (_, hook, policy, timeout) => {
  expect((await from({ pre_tool_use: [hook] })).definitions).toMatchObject([
    {
      timeout_ms: timeout,
      on_error: policy,
      on_timeout: policy,
      on_invalid: policy,
      config: { format: 'openharness', block_on_failure: policy === 'block' },
    },
  ])
})

test.each([
  [{ ...command, timeout_seconds: 0 }],
  [{ ...command, timeout_seconds: 601 }],
  [{ ...command, timeout_seconds: 1.5 }],
  [{ type: 'prompt', prompt: 'x', timeout_seconds: 601 }],
  [{ type: 'http', url: 'https://a.example', timeout_seconds: 601 }],
  [{ type: 'agent', prompt: 'x', timeout_seconds: 0 }],
  [{ type: 'agent', prompt: 'x', timeout_seconds: 1_201 }],
])('OH-6 %j is out of range', async (hook) => {
  expect(await refused(importOpenHarness({ hooks: { stop: [hook] } }))).toMatchObject([
    { code: 'config.range', pointer: '/hooks/stop/0/timeout_seconds' },
  ])
})

test('OH-6 an agent that may run for twenty minutes is cut to ten, and the import says so', async () => {
  const { definitions, notes } = await from({
    stop: [{ type: 'agent', prompt: 'x', timeout_seconds: 1_200 }],
  })
  expect(definitions).toMatchObject([{ timeout_ms: 600_000 }])
  expect(notes).toEqual(['line 1 /hooks/stop/0/timeout_seconds: a hook may run for 600 s, not longer'])
})

test('OH-22 $ARGUMENTS stays, and the handler takes the command', async () => {
  const [hook] = (await from({ pre_tool_use: [{ ...command, block_on_failure: true }] })).definitions
  expect(prepareConfig(hook!)).toMatchObject({
    mayBlock: true,
    variables: { HOOKHELM_ARGUMENTS: '$ARGUMENTS' },
  })
})

describe('OH-19 OH-20 OH-21 the matcher is a glob on tool name, prompt or event', async () => {
  const condition = async (event: string, matcher: string) => {
    const { definitions, notes } = await from({ [event]: [{ ...command, matcher }] })
    return { ...definitions[0], notes }
  }
  const fits = async (event: string, matcher: string, payload: object) => {
    const compiled = compileMatcher(await condition(event, matcher), event)
    return compiled.when?.({ event, name: '', payload, envelope: {} }) ?? true
  }

  test('of a tool', async () => {
    expect((await condition('pre_tool_use', 'mcp__*')).match).toEqual({ glob: 'mcp__*' })
    expect((await condition('pre_tool_use', '')).match).toBeUndefined()
    expect((await condition('pre_tool_use', '*')).match).toBeUndefined()
  })

  test('of a prompt', async () => {
    expect(await fits('user_prompt_submit', '*secret[0-9!]?', { prompt: 'my\nsecret1.' })).toBe(true)
    expect(await fits('user_prompt_submit', '*secret', { prompt: 'secrets' })).toBe(false)
    expect(await fits('user_prompt_submit', 'a.b', { prompt: 'axb' })).toBe(false)
    expect(await fits('user_prompt_submit', '[!a]b', { prompt: 'cb' })).toBe(true)
  })

  test('of the tool that a notification is about', async () => {
    expect(await fits('notification', 'ba*', { tool_name: 'bash' })).toBe(true)
    expect(await fits('notification', 'ba*', {})).toBe(false)
  })

  test('of the event itself, settled at once', async () => {
    expect(await condition('pre_compact', 'pre_*')).toMatchObject({ notes: [] })
    expect(await condition('pre_compact', 'auto')).toMatchObject({
      enabled: false,
      notes: [expect.stringContaining('never fits')],
    })
  })
})

test('OH-4 an unknown event is refused, not skipped', async () => {
  expect(await refused(importOpenHarness({ hooks: { pre_tol_use: [command] } }))).toMatchObject([
    { code: 'input.unknown_event', hint: 'did you mean pre_tool_use?', pointer: '/hooks/pre_tol_use/0' },
  ])
})
