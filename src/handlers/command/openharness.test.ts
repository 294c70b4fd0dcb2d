import { describe, expect, test } from 'vitest'
import { commandHook } from '../../../test/handlers/command-hook.fixture.ts'
import { alive, oddSeconds } from '../../../test/safe/processes.fixture.ts'

const real = { format: 'openharness' }
const seed = { format: 'openharness-seed' }

describe('the OpenHarness format', () => {
  test('OH-24 the event and its payload are in the environment', async () => {
    const command = 'printf "%s %s" "$OPENHARNESS_HOOK_EVENT" "$OPENHARNESS_HOOK_PAYLOAD"; exit 1'
    const { message = '' } = await commandHook({ ...real, command, block_on_failure: true }).ask()
    expect(message.startsWith('pre_tool_use {')).toBe(true)
    expect(JSON.parse(message.slice('pre_tool_use '.length))).toMatchObject({ tool_name: 'Bash' })
  })

  test('OH-25 the event is on stdin too, as the seed’s recipe has it', async () => {
    const command = 'jq -r .tool_name; exit 1'
    expect(await commandHook({ ...seed, command, can_block: true }).ask()).toMatchObject({ reason: 'Bash' })
  })

  test('OH-44 the payload has the tool, its input and the event', async () => {
    const command = 'jq -c "[.event,.tool_name,.tool_input.a]"; exit 1'
    const { ask } = commandHook({ ...real, command, block_on_failure: true })
    expect(await ask({ tool_input: { a: 1 } })).toMatchObject({ reason: '["pre_tool_use","Bash",1]' })
  })

  test.each([1, 2, 3, 127])('OH-29 OH-32 exit %i is a failure like any other', async (code) => {
    const config = { ...real, command: `exit ${code}` }
    expect(await commandHook({ ...config, block_on_failure: true }).ask()).toMatchObject({
      kind: 'block',
      reason: `command hook failed with exit code ${code}`,
    })
    const open = commandHook(config)
    expect(await open.ask()).toMatchObject({ kind: 'allow' })
    expect(open.facts()).toMatchObject({ exit_code: code, failed: true })
  })

  test('OH-32 with on_error: allow the failure is counted as an opening', async () => {
    const { ask } = commandHook({ ...real, command: 'exit 2' }, { on_error: 'allow' })
    expect(await ask()).toMatchObject({ kind: 'allow', opened: [{ code: 'process.exit' }] })
  })

  test.each(['{"decision":"block"}', '{"continue":false}', 'no'])(
    'OH-29 exit 0 never blocks: %s',
    async (text) => {
      const { ask } = commandHook({ ...real, command: `echo '${text}'`, block_on_failure: true })
      expect(await ask()).toMatchObject({ kind: 'allow' })
    },
  )

  test('OH-30 OH-31 the reason is stdout and stderr, stripped, each where it is not empty', async () => {
    const said = (command: string) => commandHook({ ...real, command, block_on_failure: true }).ask()
    expect(await said('echo " out "; echo err >&2; exit 1')).toMatchObject({
      message: 'out\nerr',
      reason: 'out err',
    })
    expect(await said('echo err >&2; exit 1')).toMatchObject({ reason: 'err' })
    expect(await said("printf '\\377'; exit 1")).toMatchObject({ reason: '\uFFFD' })
  })

  test('OH-28 a timeout follows on_timeout', async () => {
    const marker = oddSeconds()
    const slow = { ...real, command: `sleep ${marker}`, block_on_failure: true }
    expect(await commandHook(slow, { timeout_ms: 50 }).ask()).toMatchObject({
      kind: 'block',
      code: 'process.timeout',
    })
    const open = { ...slow, block_on_failure: false }
    expect(await commandHook(open, { timeout_ms: 50, on_timeout: 'allow' }).ask()).toMatchObject({
      kind: 'allow',
      opened: [{ code: 'process.timeout' }],
    })
    await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
  })
})

describe('the seed’s examples', () => {
  test('OH-31 stdout alone is the reason', async () => {
    const { ask } = commandHook({ ...seed, command: 'echo why; echo noise >&2; exit 1', can_block: true })
    expect(await ask()).toMatchObject({ kind: 'block', reason: 'why' })
  })

  test('4.4 #65 a formatter that fails after a tool call blocks nobody, with or without "; exit 0"', async () => {
    for (const command of ['cat {file} && false', 'cat {file} && false; exit 0']) {
      const { ask } = commandHook({ ...seed, command }, { event: 'post_tool_use' })
      const tool_input = { file_path: '/nowhere' }
      expect(await ask({ tool_input, tool_response: '' })).toMatchObject({ kind: 'allow' })
    }
  })

  test('an allow-list script decides by its exit code', async () => {
    const command = 'test {tool_name} = Read; exit $?'
    const { ask } = commandHook({ ...seed, command, can_block: true })
    expect(await ask({ tool_name: 'Read' })).toMatchObject({ kind: 'allow' })
    expect(await ask({ tool_name: 'Bash' })).toMatchObject({ kind: 'block' })
  })

  test('the `cat` example allows', async () => {
    const { ask, facts } = commandHook({ command: 'cat' })
    expect(await ask({ tool_input: { decision: 'block' }, decision: 'block' })).toMatchObject({
      kind: 'allow',
    })
    expect(facts()).not.toHaveProperty('unreadable')
    expect(await commandHook({ ...seed, command: 'cat', can_block: true }).ask()).toMatchObject({
      kind: 'allow',
    })
  })
})
