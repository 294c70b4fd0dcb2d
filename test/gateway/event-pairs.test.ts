import { describe, expect, test } from 'vitest'
import { agent } from '../hostile/agents/agent.fixture.ts'
import { running } from './running.fixture.ts'

const MOMENT = 1_795_125_582_405
const COMMAND = 'echo hi > ran.txt'

/** Copilot CLI, connected in its own settings and in those of Claude Code, as it was observed. */
async function copilot() {
  const gateway = await running()
  const own = (): ReturnType<typeof agent> => agent(gateway, 'copilot-cli')
  const shared = (): ReturnType<typeof agent> => agent(gateway, 'claude-code')
  const camel = (command = COMMAND, moment = MOMENT) => ({
    ...{ sessionId: 's1', timestamp: moment, cwd: '/work', toolName: 'bash', toolArgs: { command } },
  })
  const pascal = (command = COMMAND, moment = MOMENT) => ({
    ...{ hook_event_name: 'PreToolUse', session_id: 's1', timestamp: new Date(moment).toISOString() },
    ...{ cwd: '/work', tool_name: 'Bash', tool_input: { command } },
  })
  const listed = async (): Promise<readonly string[]> =>
    (await gateway.call('GET', '/v1/events?limit=100')).body.events.map(
      ({ event }: { event: string }) => event,
    )
  let asked = 0
  /** All events so far, the newest first: one that is sent now is written after them. */
  const events = async () => {
    asked += 1
    await gateway.dispatch('notification', { message: 'all sent' })
    const all = await gateway.until(
      listed,
      (names) => names.filter((name) => name === 'notification').length === asked,
    )
    return all.filter((name) => name !== 'notification')
  }
  const reply = ({ reply: { stdout } }: { reply: { stdout: string } }) =>
    stdout === '' ? {} : JSON.parse(stdout)
  return {
    gateway,
    events,
    first: async (command?: string, moment?: number) =>
      reply(await own()('preToolUse', camel(command, moment))),
    second: async (command?: string, moment?: number) =>
      reply(await shared()('PreToolUse', pascal(command, moment))),
    send: async (event: string, native: object) => reply(await own()(event, native)),
    sendShared: async (event: string, native: object) => reply(await shared()(event, native)),
  }
}

const script = (body: string) => ({
  ...{
    event: 'pre_tool_use',
    handler_type: 'script',
    config: { source: `function handle(event) { ${body} }` },
  },
})
const denied = expect.objectContaining({ permissionDecision: 'deny' })

describe('Copilot CLI beside the settings of Claude Code', () => {
  test('one call is one event, and a guard counts it once', async () => {
    const { gateway, events, first, second } = await copilot()
    await gateway.hook({
      ...script('return { decision: "block", reason: "once" }'),
      max_invocations_per_turn: 1,
    })
    // A second count would be over the quota, and the hook would not run.
    const answers = [await first(), await second()]
    expect(answers.map(({ permissionDecisionReason }) => permissionDecisionReason)).toEqual(['once', 'once'])
    expect(await events()).toEqual(['pre_tool_use'])
  })

  test('the second event is answered like the first, also if a hook has changed the command', async () => {
    const { gateway, events, first, second } = await copilot()
    const change = '{ command: event.tool_input.command + "!" }'
    await gateway.hook(script(`return { decision: "allow", updatedInput: ${change} }`))
    const changed = { modifiedArgs: { command: `${COMMAND}!` } }
    expect(await first()).toMatchObject(changed)
    expect(await second(`${COMMAND}!`)).toMatchObject(changed)
    expect(await events()).toEqual(['pre_tool_use'])
  })

  test('another command, moment or session is another event', async () => {
    const { events, first, second, sendShared } = await copilot()
    await first()
    await second('rm -rf /')
    await second(COMMAND, MOMENT + 1)
    const { session_id: _, ...rest } = { session_id: '', timestamp: new Date(MOMENT).toISOString() }
    await sendShared('PreToolUse', {
      ...{ ...rest, session_id: 's2', cwd: '/work', tool_name: 'Bash', tool_input: { command: COMMAND } },
    })
    expect(await events()).toHaveLength(4)
  })

  test('the same command in another folder, or from another caller, is another event', async () => {
    const { gateway, events, first, second, sendShared } = await copilot()
    const native = {
      ...{ hook_event_name: 'PreToolUse', session_id: 's1', timestamp: new Date(MOMENT).toISOString() },
      ...{ tool_name: 'Bash', tool_input: { command: COMMAND } },
    }
    await first()
    await sendShared('PreToolUse', { ...native, cwd: '/other' })
    expect(await events()).toHaveLength(2)
    await gateway.call('POST', '/v1/agents/claude-code/PreToolUse', { ...native, cwd: '/work' })
    expect(await events()).toHaveLength(3)
    await second()
    expect(await events()).toHaveLength(3)
  })

  test('five identical calls of one moment are five events', async () => {
    const { gateway, events, first, second } = await copilot()
    let asked = 0
    await gateway.hook(script('return { decision: "ask", reason: "may it?" }'))
    for (let call = 0; call < 5; call++) asked += (await first()).permissionDecision === 'ask' ? 1 : 0
    for (let call = 0; call < 5; call++) expect(await second()).toMatchObject({ permissionDecision: 'ask' })
    expect(asked).toBe(5)
    expect(await events()).toHaveLength(5)
    await second()
    expect(await events()).toHaveLength(6)
  })

  test('after a block the agent asks no more, so the second event of an identical call has the answer of its own first', async () => {
    const { gateway, events, first, second } = await copilot()
    await gateway.hook({ ...script('return { decision: "block", reason: "once" }'), cooldown_ms: 600_000 })
    expect([await first(), await first()]).toEqual([denied, {}])
    expect(await second()).toEqual({})
    expect(await events()).toHaveLength(2)
  })

  test('events that come at once are one event too', async () => {
    const { gateway, events, first, second } = await copilot()
    await gateway.hook(script('return { decision: "block", reason: "once" }'))
    const answers = await Promise.all([first(), second()])
    expect(answers).toEqual([denied, denied])
    expect(await events()).toEqual(['pre_tool_use'])
  })

  test('the same holds for prompts and for the end of a turn, and the model gets added context once', async () => {
    const { gateway, events, send, sendShared } = await copilot()
    const add = {
      ...script('return { decision: "allow", additionalContext: "be brief" }'),
      event: 'user_prompt_submit',
    }
    await gateway.hook(add)
    const at = { session_id: 's1', timestamp: new Date(MOMENT).toISOString(), cwd: '/work' }
    const camel = { sessionId: 's1', timestamp: MOMENT, cwd: '/work' }
    expect(await send('userPromptSubmitted', { ...camel, prompt: 'hi' })).toEqual({
      additionalContext: 'be brief',
    })
    expect(await sendShared('UserPromptSubmit', { ...at, prompt: 'hi' })).toEqual({})
    await send('agentStop', { ...camel, stopReason: 'end_turn', stop_hook_active: false })
    await sendShared('Stop', { ...at, stop_reason: 'end_turn', stop_hook_active: false })
    expect(await events()).toEqual(['stop', 'user_prompt_submit'])
  })
})
