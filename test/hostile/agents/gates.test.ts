import { beforeAll, describe, expect, test } from 'vitest'
import { nativeClient, nodeClient, run } from '../../agents-client/clients.fixture.ts'
import { running, shared } from '../../gateway/running.fixture.ts'
import { openLines } from '../../gateway/socket.fixture.ts'
import { agent, bash } from './agent.fixture.ts'

const DIGITS = '{"n":12345678901234567890,"e":1e999,"deep":[{"x":-9007199254740993}]}'

const changing = shared(() => ({
  functions: {
    change: ({ tool_input }: { tool_input: object }) => ({
      kind: 'allow',
      input: { ...tool_input, extra: true },
    }),
  },
}))

beforeAll(async () => {
  await changing().hook({ event: 'pre_tool_use', handler_type: 'function', config: { name: 'change' } })
})

test('a changed file of several megabytes comes back whole', async () => {
  const content = 'a line "x"\n'.repeat(400_000)
  const { reply } = await agent(changing())('PreToolUse', {
    tool_name: 'Write',
    tool_input: { file_path: '/a', content },
  })
  expect(JSON.parse(reply.stdout).hookSpecificOutput.updatedInput).toEqual({
    file_path: '/a',
    content,
    extra: true,
  })
})

test('a working directory that no system has closes the gate and costs nothing', async () => {
  const gateway = await running()
  const ask = agent(gateway)
  const call = { tool_name: 'Bash', tool_input: { command: 'ls' } }
  expect(await ask('PreToolUse', { ...call, cwd: '/a'.repeat(500_000) })).toMatchObject({
    error: { code: 'input.schema' },
  })
  for (const cwd of ['relative', '', '/a\0b', '/with\nnewline', '/etc/passwd', 7, null])
    expect(await ask('PreToolUse', { ...call, cwd })).toMatchObject({ reply: { exit: 0, stdout: '' } })
  expect((await ask('PreToolUse', { ...call, cwd: `/${'x'.repeat(300)}` })).reply.stdout).toContain('"deny"')
})

describe.each([
  ['claude-code', 'PreToolUse', `{"tool_name":"X","tool_input":${DIGITS}}`],
  ['codex', 'PreToolUse', `{"tool_name":"X","tool_input":${DIGITS}}`],
  ['gemini-cli', 'BeforeTool', `{"tool_name":"X","tool_input":${DIGITS}}`],
  ['copilot-cli', 'preToolUse', `{"toolName":"X","toolArgs":${DIGITS}}`],
  ['copilot-cli', 'preToolUse', `{"toolName":"X","toolArgs":${JSON.stringify(DIGITS)}}`],
  ['cursor', 'preToolUse', `{"tool_name":"X","tool_input":${DIGITS}}`],
  ['cursor', 'preToolUse', `{"tool_name":"X","tool_input":${JSON.stringify(DIGITS)}}`],
])('a rewrite keeps every digit of what it does not change: %s %s', (name, event, payload) => {
  test(payload.slice(0, 40), async () => {
    const { socket = '' } = changing()
    for (const client of [nativeClient ?? nodeClient, nodeClient]) {
      const { code, stdout } = await run(client, [name, event, '--socket', socket], payload)
      expect(code).toBe(0)
      expect(stdout).toContain(`${DIGITS.slice(0, -1)},"extra":true}`)
    }
  })
})

test('whoever does not wait for the answer is recorded as gone', async () => {
  let begun = () => {}
  const isBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const gateway = await running({
    functions: {
      slow: (_, { signal }) => {
        begun()
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)))
      },
    },
  })
  await gateway.hook({ event: 'pre_tool_use', handler_type: 'function', config: { name: 'slow' } })
  const lines = openLines(gateway.socket ?? '', { hookhelm: 1, agent: 'claude-code' })
  lines.send({ id: 1, event: 'PreToolUse', native: bash('/nowhere') })
  await isBegun
  lines.socket.destroy()
  const { body } = await gateway.until(
    () => gateway.call('GET', '/v1/executions'),
    ({ body: found }) => found.executions.length > 0,
  )
  expect(body.executions).toContainEqual(expect.objectContaining({ decision: 'aborted' }))
})
