import { describe, expect, test } from 'vitest'
import { commandHook } from '../../test/handlers/command-hook.fixture.ts'
import { findPayloadShape } from '../agents/table.ts'

const options = { findPayloadShape }
const deny = `grep -q '"toolName":"bash"' && { echo no >&2; exit 2; }; exit 0`

describe('config.payload', () => {
  test('gives the hook the payload of another agent', async () => {
    const { ask } = commandHook({ command: deny, payload: 'copilot-cli' }, {}, options)
    expect(await ask()).toMatchObject({ kind: 'block', reason: 'no' })
  })

  test.each([
    ['an unknown agent', { payload: 'emacs' }, options],
    ['an event without an agent', { payload_event: 'preToolUse' }, options],
    ['together with another format', { payload: 'cursor', format: 'openharness' }, options],
    ['in a program that knows no agents', { payload: 'cursor' }, {}],
  ])('%s is refused when the hook is registered', (_, config, given) => {
    expect(() => commandHook({ command: 'true', ...config }, {}, given)).toThrow(/payload/)
  })

  test('a worker reads the payload too, and its changed arguments get our names', async () => {
    const program = `
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, toolArgs } = JSON.parse(line)
        console.log(JSON.stringify({ id, permissionDecision: 'allow', modifiedArgs: { ...toolArgs, path: '/b' } }))
      })`
    const exec = [process.execPath, '-e', program]
    const { ask, dispose } = commandHook({ worker: true, exec, payload: 'copilot-cli' }, {}, options)
    const decision = await ask({ tool_name: 'Write', tool_input: { file_path: '/a', content: 'x' } })
    expect(decision).toMatchObject({ kind: 'allow', input: { file_path: '/b', content: 'x' } })
    await dispose()
  })

  test('the sender of an event cannot choose the folder whose scripts run', async () => {
    const command = 'echo "$CLAUDE_PROJECT_DIR" >&2; exit 2'
    const gateway = { ...options, followsSession: false }
    const { ask } = commandHook({ command, payload: 'claude-code' }, {}, gateway)
    expect(await ask({}, { cwd: '/tmp' })).toMatchObject({ reason: process.cwd() })
    expect(await ask({}, { cwd: '/tmp', project: '/srv' })).toMatchObject({ reason: '/srv' })
  })

  test('an answer with only unknown keys is invalid in every form', async () => {
    const { ask } = commandHook({ command: `echo '{"permision":"deny"}'`, payload: 'cursor' }, {}, options)
    expect(await ask()).toMatchObject({ kind: 'block', code: 'handler.result' })
    const followUp = commandHook(
      { command: `echo '{"followup_message":"x"}'`, payload: 'cursor' },
      {},
      options,
    )
    expect(await followUp.ask()).toMatchObject({ kind: 'block', code: 'handler.result' })
  })
})
