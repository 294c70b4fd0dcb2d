import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { commandHook } from '../../../test/handlers/command-hook.fixture.ts'
import { alive, oddSeconds } from '../../../test/safe/processes.fixture.ts'
import { runningGroups } from '../../safe/process/process-groups.ts'
import { badCommands } from '../../testing/bad-commands.ts'

const echo = (answer: unknown) => `cat >/dev/null; echo '${JSON.stringify(answer)}'`

describe('what a command gets', () => {
  test('GC-44 GC-45 a shell line reads the event as one JSON object on stdin', async () => {
    const { ask } = commandHook({ command: 'jq -c . 1>&2; exit 2' })
    const envelope = {
      id: 'e1',
      tenant: 't',
      agent: 'a',
      agentId: 'i',
      session: 's',
      run: 'r',
      turn: 'u',
      depth: 1,
    }
    const decision = await ask({ tool_input: { command: 'ls' }, tool_use_id: 'c' }, envelope)
    expect(JSON.parse(decision.message ?? '')).toEqual({
      ...{ hook_event_name: 'PreToolUse', event: 'pre_tool_use', event_id: 'e1', depth: 1, tenant_id: 't' },
      ...{ agent_id: 'i', agent_name: 'a', session_id: 's', run_id: 'r', turn_id: 'u', tool_use_id: 'c' },
      ...{ tool_name: 'Bash', tool_input: { command: 'ls' } },
    })
  })

  test('the event is in its environment', async () => {
    const { ask } = commandHook({ command: 'echo $HOOKHELM_EVENT >&2; exit 2' })
    expect(await ask()).toMatchObject({ kind: 'block', reason: 'pre_tool_use' })
  })

  test('4.4 #61 GC-48 it sees no variable but the four that are always there and those that are named', async () => {
    vi.stubEnv('CANARY_SECRET', 'do-not-show')
    vi.stubEnv('MY_VAR', 'mine')
    const { ask } = commandHook({
      command: 'env | cut -d= -f1 | sort >&2; exit 2',
      allowed_env_vars: ['MY_VAR', 'GONE'],
    })
    const { message = '' } = await ask()
    const given = new Set(['HOME', 'HOOKHELM_EVENT', 'LANG', 'MY_VAR', 'PATH', 'TMPDIR'])
    const ownOfTheShell = new Set(['PWD', 'OLDPWD', 'SHLVL', '_'])
    expect(message.split('\n').filter((name) => !given.has(name) && !ownOfTheShell.has(name))).toEqual([])
    expect(message).toContain('MY_VAR')
    vi.unstubAllEnvs()
  })

  test('GC-48 an empty list passes nothing on', async () => {
    vi.stubEnv('CANARY_SECRET', 'do-not-show')
    const { ask } = commandHook({ command: 'env >&2; exit 2', allowed_env_vars: [] })
    expect((await ask()).message).not.toContain('CANARY')
    vi.unstubAllEnvs()
  })

  test('exec starts a program without a shell', async () => {
    const exec = ['node', '-e', 'console.error(process.argv[1]); process.exit(2)', '$(id) `id` $HOME']
    expect(await commandHook({ exec }).ask()).toMatchObject({ reason: '$(id) `id` $HOME' })
  })
})

describe('where it runs', () => {
  let root = ''
  beforeAll(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'hookhelm-work-')))
    mkdirSync(join(root, 'inner'))
    symlinkSync('/etc', join(root, 'out'))
  })
  afterAll(() => rmSync(root, { recursive: true }))
  const command = 'pwd >&2; exit 2'

  test('GC-49 in the configured directory, else in that of the session, else in ours', async () => {
    expect(await commandHook({ command, cwd: root }).ask({}, { cwd: '/' })).toMatchObject({ reason: root })
    expect(await commandHook({ command }).ask({}, { cwd: root })).toMatchObject({ reason: root })
    expect(await commandHook({ command }).ask()).toMatchObject({ reason: process.cwd() })
    expect(await commandHook({ command }).ask({}, { cwd: '/on/another/machine' })).toMatchObject({
      reason: process.cwd(),
    })
  })

  test.each(['nowhere', 'out', '..', '/etc'])('4.4 #63 not in %s', async (cwd) => {
    const { ask } = commandHook({ command, cwd }, {}, { workspaceRoot: root })
    expect(await ask()).toMatchObject({ kind: 'block', code: 'process.cwd' })
  })

  test('4.4 #63 nor where the session says, if that lies outside', async () => {
    const { ask } = commandHook({ command }, {}, { workspaceRoot: root })
    expect(await ask({}, { cwd: join(root, 'out') })).toMatchObject({ code: 'process.cwd' })
    expect(await ask({}, { cwd: join(root, 'inner') })).toMatchObject({ reason: join(root, 'inner') })
  })
})

describe('what its end means', () => {
  test('4.4 #47 GC-46 exit 0 and no output allows', async () => {
    const { ask, facts } = commandHook({ command: badCommands.silent })
    expect(await ask()).toMatchObject({ kind: 'allow' })
    expect(facts()).toEqual({ exit_code: 0, stdout_len: 0, stderr_len: 0 })
  })

  test('4.4 #48 GC-46 {"continue":false} blocks, with its reason', async () => {
    expect(await commandHook({ command: echo({ continue: false }) }).ask()).toMatchObject({
      kind: 'block',
      reason: 'blocked by hook',
      by: 'hook',
    })
    const said = { continue: false, stopReason: 'enough' }
    expect(await commandHook({ command: echo(said) }).ask()).toMatchObject({ reason: 'enough' })
  })

  test('4.4 #49 GC-46 exit 2 blocks; stderr is the reason, in one redacted line of 256 bytes', async () => {
    const command = `printf 'no way\\npassword=hunter2\\n%s' ${'x'.repeat(400)} >&2; exit 2`
    const { reason = '', message = '', kind } = await commandHook({ command }).ask()
    expect(kind).toBe('block')
    expect(reason.startsWith('no way password=')).toBe(true)
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(256)
    expect(reason + message).not.toContain('hunter2')
    expect(message.split('\n')).toHaveLength(3)
    expect(message.endsWith('x'.repeat(400))).toBe(true)
  })

  test('GC-46 exit 2 without stderr still blocks, with what stdout says', async () => {
    expect(await commandHook({ command: badCommands.blocksSilently }).ask()).toMatchObject({
      kind: 'block',
      reason: 'blocked by hook',
    })
    expect(await commandHook({ command: 'echo because; exit 2' }).ask()).toMatchObject({ reason: 'because' })
    const json = `${echo({ decision: 'block', reason: 'in JSON' })}; exit 2`
    expect(await commandHook({ command: json }).ask()).toMatchObject({ reason: 'in JSON' })
    const allows = `${echo({ decision: 'allow' })}; exit 2`
    expect(await commandHook({ command: allows }).ask()).toMatchObject({ kind: 'block' })
  })

  test.each([
    ['exit 1', badCommands.exitsWithOne, 'command exited 1: broken'],
    ['exit 3', badCommands.exitsWithThree, 'command exited 3'],
    ['exit 126', badCommands.notExecutable, 'command exited 126'],
    ['exit 127', badCommands.notThere, 'command exited 127'],
  ])('4.4 #50 GC-46 %s is an error and closes a gate', async (_, command, text) => {
    const { ask, facts } = commandHook({ command })
    const decision = await ask()
    expect(decision).toMatchObject({ kind: 'block', code: 'process.exit' })
    expect(decision.reason).toContain(text)
    expect(facts()).toMatchObject({ exit_code: Number(text.split(' ')[2]?.replace(':', '')) })
  })

  test('4.4 #50 a program that does not exist, or a line that is too long, is process.start', async () => {
    expect(await commandHook({ exec: ['/nowhere/at-all'] }).ask()).toMatchObject({ code: 'process.start' })
    const long = commandHook({ command: 'echo $ARGUMENTS' })
    expect(await long.ask({ tool_input: { text: 'x'.repeat(200_000) } })).toMatchObject({
      code: 'process.start',
    })
  })

  test('4.4 #50 on_error: allow opens, and says so', async () => {
    const { ask } = commandHook({ command: badCommands.exitsWithOne }, { on_error: 'allow' })
    expect(await ask()).toMatchObject({
      kind: 'allow',
      opened: [{ hook: 'hook', because: 'error', code: 'process.exit' }],
    })
  })

  test.each([
    ['SIGKILL', badCommands.killsItself],
    ['SIGSEGV', badCommands.crashes],
    ['SIGSEGV', `sh -c 'kill -SEGV $$'; exit $?`],
  ])('4.4 #51 ended by %s is process.signal', async (name, command) => {
    const decision = await commandHook({ command }).ask()
    expect(decision).toMatchObject({ kind: 'block', code: 'process.signal' })
    expect(decision.reason).toContain(name)
  })

  test.each(['sleepsForEver', 'ignoresTerm', 'waitsForGrandchild', 'stubbornGrandchild'] as const)(
    '4.4 #52 #53 GC-50 %s: process.timeout at the deadline, and nobody survives',
    async (name) => {
      const marker = oddSeconds()
      const command = badCommands[name].replaceAll('3600', String(marker))
      const decision = await commandHook({ command }, { timeout_ms: 150 }).ask()
      expect(decision).toMatchObject({ kind: 'block', code: 'process.timeout' })
      await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
    },
  )

  test('4.4 #52 on_timeout: allow opens', async () => {
    const { ask } = commandHook({ command: 'sleep 60' }, { timeout_ms: 50, on_timeout: 'allow' })
    expect(await ask()).toMatchObject({ kind: 'allow', opened: [{ code: 'process.timeout' }] })
  })

  test('4.4 #53 a grandchild that holds stdout does not hold the answer', async () => {
    const marker = oddSeconds()
    const command = `sleep ${marker} & echo '{"decision":"block","reason":"quick"}'`
    expect(await commandHook({ command }).ask()).toMatchObject({ kind: 'block', reason: 'quick' })
    await expect.poll(() => alive(`sleep ${marker}`)).toEqual([])
  })

  test.each(['floodsStdout', 'floodsStderr'] as const)('4.4 #55 %s is process.output_limit', async (name) => {
    const { ask, facts } = commandHook({ command: badCommands[name] })
    expect(await ask()).toMatchObject({ kind: 'block', code: 'process.output_limit' })
    const { stdout = '', stderr = '' } = facts()
    expect(`${stdout}${stderr}`).toHaveLength(4_095)
  })

  test('4.4 #56 one that never reads a large event decides by its exit code', async () => {
    const tool_input = { text: 'x'.repeat(10_000_000) }
    expect(await commandHook({ command: badCommands.deaf }).ask({ tool_input })).toMatchObject({
      kind: 'allow',
    })
    expect(await commandHook({ command: badCommands.blocksSilently }).ask({ tool_input })).toMatchObject({
      kind: 'block',
    })
  })

  test('4.4 #58 escape sequences, CR and broken UTF-8 do not reach the reason', async () => {
    const command = `${badCommands.speaksBinary} >&2; exit 2`
    expect(await commandHook({ command }).ask()).toMatchObject({ reason: '\uFFFD\uFFFDred' })
  })

  test('GC-46 plain text allows, and is flagged', async () => {
    const { ask, facts } = commandHook({ command: badCommands.speaksText })
    expect(await ask()).toMatchObject({ kind: 'allow' })
    expect(facts()).toMatchObject({ exit_code: 0, unreadable: true })
  })

  test.each(['speaksHtml', 'speaksHalfJson'] as const)('%s is an invalid answer', async (name) => {
    const { ask } = commandHook({ command: badCommands[name] })
    expect(await ask()).toMatchObject({ kind: 'block', code: 'handler.result' })
    const open = commandHook({ command: badCommands[name] }, { on_invalid: 'allow' })
    expect(await open.ask()).toMatchObject({ kind: 'allow', opened: [{ because: 'invalid' }] })
    const lenient = commandHook({ command: badCommands[name] }, { answer: 'lenient' })
    expect(await lenient.ask()).toMatchObject({ kind: 'allow' })
    expect(lenient.facts()).toMatchObject({ unreadable: true })
  })

  test('M13 an answer with two decisions closes the gate', async () => {
    const { ask } = commandHook({ command: badCommands.speaksTwice })
    expect(await ask()).toMatchObject({ kind: 'block', code: 'handler.result' })
  })

  test.each([
    ['session_start', { source: 'startup' }],
    ['user_prompt_submit', { prompt: 'hi' }],
  ])('on %s text is context for the model', async (event, payload) => {
    const { ask } = commandHook({ command: 'echo branch: main' }, { event })
    expect(await ask(payload)).toMatchObject({ kind: 'allow', context: ['branch: main'] })
  })

  test('a rewrite, a context and an ask reach the decision', async () => {
    const answer = {
      decision: 'ask',
      reason: 'sure?',
      updatedInput: { command: 'ls' },
      additionalContext: 'note',
    }
    expect(await commandHook({ command: echo(answer) }).ask({ tool_input: { command: 'rm' } })).toMatchObject(
      {
        kind: 'ask',
        reason: 'sure?',
        input: { command: 'ls' },
        context: ['note'],
      },
    )
  })

  test('4.4 #65 a failing command on an event that cannot block is recorded and blocks nobody', async () => {
    const { ask, seen } = commandHook({ command: badCommands.exitsWithTwo }, { event: 'post_tool_use' })
    expect(await ask({ tool_response: 'ok' })).toMatchObject({ kind: 'allow' })
    const failing = commandHook({ command: badCommands.exitsWithOne }, { event: 'post_tool_use' })
    expect(await failing.ask({ tool_response: 'ok' })).toMatchObject({ kind: 'allow' })
    await vi.waitFor(() => {
      expect(seen.dispatches[0]?.executions[0]).toMatchObject({ code: 'engine.block_ignored' })
      expect(failing.seen.dispatches[0]?.executions[0]).toMatchObject({
        decision: 'error',
        code: 'process.exit',
      })
    }, 60_000)
  })
})

test('4.4 #60 1 000 events at once: at most 8 children, and who does not get a turn in time is closed', async () => {
  const scene = commandHook({ command: 'sleep 0.02' }, { timeout_ms: 1_000 })
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, runningGroups().length)
  })
  const all = await Promise.all(Array.from({ length: 1_000 }, () => scene.ask()))
  clearInterval(watch)
  const kinds = Object.groupBy(all, ({ kind, code }) => `${kind} ${code ?? ''}`)
  expect(Object.keys(kinds).toSorted()).toEqual(['allow ', 'block process.timeout'])
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(8)
  await expect.poll(() => runningGroups()).toEqual([])
})
