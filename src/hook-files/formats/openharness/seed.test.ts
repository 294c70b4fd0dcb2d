import { describe, expect, test } from 'vitest'
import { prepareConfig } from '../../../../test/handlers/handlers.fixture.ts'
import { imported, refused, yaml } from '../../../../test/hook-files/imported.fixture.ts'
import { importFile } from '../../../agents/import-file.ts'
import type { ImportSource } from '../import-format.ts'

const importOpenHarnessSeed = (given: ImportSource) => importFile(given, 'openharness-seed')

const from = (text: string) => imported(importOpenHarnessSeed(yaml(text)))

describe('the examples of the description', () => {
  test('OH-54 a formatter that may fail never blocks', async () => {
    const { definitions } = await from(
      'hooks:\n- events: [POST_TOOL_USE]\n  command: "black {file} && isort {file}" # fails if file locked\n',
    )
    expect(definitions).toEqual([
      {
        event: 'post_tool_use',
        handler_type: 'command',
        timeout_ms: 30_000,
        on_error: 'allow',
        on_timeout: 'allow',
        on_invalid: 'allow',
        answer: 'ignore',
        config: { format: 'openharness-seed', command: 'black {file} && isort {file}', can_block: false },
      },
    ])
  })

  test('the mended formatter is read as well', async () => {
    const { definitions } = await from(
      'hooks:\n- events: [POST_TOOL_USE]\n  command: "black {file} && isort {file}; exit 0" # always exits 0\n',
    )
    expect(definitions).toMatchObject([{ config: { command: 'black {file} && isort {file}; exit 0' } }])
  })

  test('a prompt in the critical path', async () => {
    const { definitions } = await from(
      'hooks:\n- events: [PRE_TOOL_USE]\n  type: PROMPT\n  prompt: "Is this tool call safe? {tool_name} with args {args}"\n',
    )
    expect(definitions).toMatchObject([
      {
        event: 'pre_tool_use',
        handler_type: 'prompt',
        config: { format: 'openharness', prompt: 'Is this tool call safe? {tool_name} with args {args}' },
      },
    ])
  })

  test('the better pattern: a command before, a prompt behind', async () => {
    const { definitions } = await from(`hooks:
- events: [PRE_TOOL_USE]
  type: COMMAND
  command: "check_tool_allowlist.sh {tool_name}; exit $?"
- events: [POST_TOOL_USE]
  type: PROMPT
  prompt: "Summarize what {tool_name} did: {result}"
`)
    expect(definitions.map(({ event, handler_type }) => [event, handler_type])).toEqual([
      ['pre_tool_use', 'command'],
      ['post_tool_use', 'prompt'],
    ])
  })
})

test('OH-1 every event of the description is known, in its spelling', async () => {
  const { definitions } = await from(
    'hooks: [{ events: [SESSION_START, SESSION_END, PRE_COMPACT, POST_COMPACT, PRE_TOOL_USE, POST_TOOL_USE], command: "true" }]',
  )
  expect(definitions.map(({ event }) => event)).toEqual([
    'session_start',
    'session_end',
    'pre_compact',
    'post_compact',
    'pre_tool_use',
    'post_tool_use',
  ])
})

test('OH-5 all four types are read, and their handlers take what comes out', async () => {
  const { definitions } = await from(`hooks:
- { events: [PRE_TOOL_USE], type: COMMAND, command: "check {tool_name}", can_block: true }
- { events: [PRE_TOOL_USE], type: HTTP, url: "https://a.example/hook", headers: { X-Key: k } }
- { events: [PRE_TOOL_USE], type: PROMPT, prompt: "ok?", can_block: true }
- { events: [PRE_TOOL_USE], type: AGENT, prompt: "look", model: haiku }
`)
  const [command, http, prompt, agent] = definitions
  expect(command).toMatchObject({ on_error: 'block', on_timeout: 'block', on_invalid: 'block' })
  expect(prepareConfig(command!)).toMatchObject({
    format: 'openharness-seed',
    mayBlock: true,
  })
  expect(http).toMatchObject({
    handler_type: 'http',
    config: { format: 'openharness', url: 'https://a.example/hook', headers: { 'X-Key': 'k' } },
  })
  expect(prepareConfig(prompt!)).toMatchObject({ format: 'openharness', canBlock: true })
  expect(agent).toMatchObject({
    handler_type: 'agent',
    timeout_ms: 60_000,
    config: { prompt: 'look', model: 'haiku' },
  })
})

test('can_block away from pre_tool_use has no effect, and the import says so', async () => {
  const { definitions, notes } = await from(
    'hooks: [{ events: [POST_TOOL_USE], command: "true", can_block: true }]',
  )
  expect(definitions).toMatchObject([{ on_error: 'allow', config: { can_block: false } }])
  expect(notes).toEqual([
    'line 1 /hooks/0/can_block: can_block has no effect on POST_TOOL_USE; only PRE_TOOL_USE can block',
  ])
})

test.each([
  ['hooks:\n- events: [PRE_TOL_USE]\n  command: a\n', 'input.unknown_event', 2],
  ['hooks:\n- events: [STOP]\n  type: PROMPT\n', 'config.field', 2],
  ['hooks:\n- events: [STOP]\n  comand: a\n', 'config.field', 3],
  ['hooks: [', 'config.syntax', 1],
])('%j is refused with its place', async (text, code, line) => {
  expect((await refused(importOpenHarnessSeed(yaml(text))))[0]).toMatchObject({
    code,
    line,
    file: 'hooks.yaml',
  })
})
