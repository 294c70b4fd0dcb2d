import { afterAll, describe, expect, test } from 'vitest'
import { importFile } from '../../src/agents/import-file.ts'
import { commandHandler } from '../../src/handlers/command/command.ts'
import { createHooks, type Hooks } from '../../src/index.ts'
import { recorder } from '../../src/testing/index.ts'

const command = commandHandler.create({})
afterAll(() => command.dispose())

/** An OpenHarness file as its authors write it, imported and run with real processes. */
async function opened(text: string) {
  const result = await importFile({ text, path: 'hooks.yaml' }, 'openharness-seed')
  if (result.kind !== 'imported') throw new Error(JSON.stringify(result.problems))
  const seen = recorder()
  const stub = (type: string) => ({ type, read: (config: unknown) => config, run: () => undefined })
  const hooks: Hooks = createHooks({
    handlers: [command, ...['prompt', 'http', 'agent'].map(stub)],
    sink: seen.sink,
  })
  hooks.replace('file', result.definitions)
  return { hooks, seen, definitions: result.definitions }
}
const bash = { tool_name: 'Bash', tool_input: { command: 'ls', file: 'a b.txt' } }

describe('an OpenHarness file works unchanged', () => {
  test('OH-1 its six events are ours', async () => {
    const events = [
      'SESSION_START',
      'SESSION_END',
      'PRE_COMPACT',
      'POST_COMPACT',
      'PRE_TOOL_USE',
      'POST_TOOL_USE',
    ]
    const { definitions, hooks } = await opened(
      `hooks:\n${events.map((event) => `- events: [${event}]\n  command: "true"\n`).join('')}`,
    )
    expect(definitions).toHaveLength(6)
    const names = [
      'session_start',
      'session_end',
      'pre_compact',
      'post_compact',
      'pre_tool_use',
      'post_tool_use',
    ] as const
    for (const name of names) expect(hooks.list(name)).toHaveLength(1)
  })

  test('OH-5 its four types are ours', async () => {
    const { definitions } = await opened(`hooks:
- { events: [PRE_TOOL_USE], type: COMMAND, command: "true" }
- { events: [PRE_TOOL_USE], type: PROMPT, prompt: "Is {tool_name} safe?", model: haiku }
- { events: [PRE_TOOL_USE], type: HTTP, url: "https://example.com/hook", headers: { X-Team: a } }
- { events: [PRE_TOOL_USE], type: AGENT, prompt: "Look closely", model: sonnet }
`)
    expect(definitions.map(({ handler_type }) => handler_type)).toEqual([
      'command',
      'prompt',
      'http',
      'agent',
    ])
    expect(definitions[1]?.config).toMatchObject({ model: 'haiku' })
    expect(definitions[2]?.config).toMatchObject({
      url: 'https://example.com/hook',
      headers: { 'X-Team': 'a' },
    })
  })

  test('OH-12 OH-13 its hooks run in the order of the file, and the first block is the last to run', async () => {
    const { hooks, seen } = await opened(`hooks:
- { events: [PRE_TOOL_USE], command: "true", can_block: true }
- { events: [PRE_TOOL_USE], command: "echo not this one; exit 1", can_block: true }
- { events: [PRE_TOOL_USE], command: "exit 1", can_block: true }
`)
    const decision = await hooks.dispatch('pre_tool_use', bash)
    expect(decision).toMatchObject({ kind: 'block', reason: expect.stringContaining('not this one') })
    expect(seen.dispatches[0]?.executions.map((execution) => execution.decision)).toEqual(['allow', 'block'])
  })

  test('OH-54 a formatter that fails after a tool call blocks nothing', async () => {
    const { hooks, seen } = await opened(
      'hooks:\n- { events: [POST_TOOL_USE], command: "black {file} && exit 1" }\n',
    )
    const decision = await hooks.dispatch('post_tool_use', { ...bash, tool_response: 'ok' })
    expect(decision).toEqual({ kind: 'allow' })
    await hooks.drain()
    expect(seen.dispatches[0]?.executions).toHaveLength(1)
  })
})
