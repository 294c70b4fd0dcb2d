import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { upGateway } from '../../src/app/gateway/up-gateway.ts'
import { createClient } from '../../src/client/client.ts'
import { startFakeModel } from '../../src/testing/index.ts'
import { calls, modelScene, projectFolder, says } from './executors.fixture.ts'
import { runsOf, untilEnded } from './runs.fixture.ts'

const HANG = 240_000

describe('a run of a model', () => {
  test(
    'calls tools in its folder, passes every event of its life through the hooks, and answers with text',
    async () => {
      const script = [
        calls('Write', { file_path: 'notes/a.txt', content: 'one' }),
        calls('Bash', { command: 'cat notes/a.txt && echo $HOOKHELM_RUN_ID && echo key=$ANTHROPIC_API_KEY' }),
        calls('Read', { file_path: '../../etc/passwd' }),
        says('All done.'),
      ]
      // A process, whose environment has the key.
      const { folder, seen, runModel, fake } = await modelScene(script, [])
      const { run, events, result } = await runModel({
        system_prompt: 'You keep notes.',
        tools: ['Write', 'Bash', 'Read'],
      })
      expect(run).toMatchObject({ status: 'completed', error: null })
      expect(result).toMatchObject({ result_text: 'All done.', result_data: null })
      expect(readFileSync(join(folder, 'notes/a.txt'), 'utf8')).toBe('one')
      const names = seen.map(({ event, payload }) => [event, payload.tool_name].filter(Boolean).join(' '))
      const step = ['model_request', 'model_response']
      const tool = (name: string) => [
        `pre_tool_use ${name}`,
        `permission_request ${name}`,
        `post_tool_use ${name}`,
      ]
      expect(names).toEqual([
        ...['session_start', 'user_prompt_submit', ...step, ...tool('Write'), ...step, ...tool('Bash')],
        ...[...step, 'pre_tool_use Read', 'post_tool_use_failure Read', ...step, 'stop', 'session_end'],
      ])
      const { run_id, session_id } = run
      for (const { envelope } of seen)
        expect(envelope).toMatchObject({ run: run_id, session: session_id, agent: 'worker', cwd: folder })
      const written = events.map(({ event_type, tool_name, role }) => [event_type, tool_name ?? role])
      expect(written).toEqual(
        expect.arrayContaining([
          ['message', 'user'],
          ['pre_tool', 'Write'],
          ['post_tool', 'Write'],
          ['message', 'assistant'],
        ]),
      )
      const outputs = events.filter(({ event_type }) => event_type === 'post_tool')
      expect(outputs[1]?.tool_output).toBe(`one${run_id}\nkey=\n`)
      expect(outputs[2]?.error).toContain('is not a file in the folder of the run')
      expect(fake.requests[0]?.text).toContain('You keep notes.')
    },
    HANG,
  )

  test(
    'does not run a tool that a stored hook blocks; rewritten input, changed output and context reach the model',
    async () => {
      const { folder, decisions, runModel, fake } = await modelScene([
        calls('Bash', { command: 'touch forbidden' }),
        calls('Bash', { command: 'echo original' }),
        says('Finished.'),
      ])
      decisions.pre_tool_use = ({ tool_input: { command } }) => {
        if (command.includes('forbidden')) return { kind: 'block', reason: 'no such files' }
        return {
          kind: 'allow',
          input: { command: 'echo rewritten > made; echo secret' },
          context: 'note from a hook',
        }
      }
      decisions.post_tool_use = () => ({ kind: 'allow', input: 'redacted' })
      const { run, events } = await runModel({ tools: ['Bash'] })
      expect(run).toMatchObject({ status: 'completed' })
      expect(existsSync(join(folder, 'forbidden'))).toBe(false)
      expect(readFileSync(join(folder, 'made'), 'utf8')).toBe('rewritten\n')
      expect(events.filter(({ event_type }) => event_type === 'tool_blocked')).toMatchObject([
        { tool_name: 'Bash', code: 'agent.blocked', reason: 'no such files' },
      ])
      const last = fake.requests.at(-1)?.text
      expect(last).toContain('no such files')
      expect(last).toContain('redacted')
      expect(last).toContain('note from a hook')
      expect(last).not.toContain('secret')
    },
    HANG,
  )

  test(
    'waits for the person whom a hook asks, at its start and at its tool calls, and shows for whom it waits',
    async () => {
      const { gateway, folder, decisions, runModel, fake } = await modelScene([
        calls('Bash', { command: 'touch denied' }),
        calls('Bash', { command: 'touch approved' }),
        says('Finished.'),
      ])
      await gateway.hook({ event: 'run_start', handler_type: 'function', config: { name: 'decide' } })
      decisions.run_start = () => ({ kind: 'ask', reason: 'may it start?' })
      decisions.pre_tool_use = ({ tool_input: { command } }) =>
        command.includes('denied') ? { kind: 'ask', reason: 'really?' } : undefined
      decisions.permission_request = () => ({ kind: 'ask', reason: 'is it permitted?' })
      const { body: person } = await gateway.call('POST', '/v1/tokens', { name: 'ada', role: 'approver' })
      const headers = { authorization: `Bearer ${person.token}` }
      const answered: string[] = []
      const answerNext = async (event: string, verdict: 'approve' | 'deny') => {
        const { body } = await gateway.until(
          () => gateway.call('GET', '/v1/approvals?status=pending'),
          ({ body: { approvals } }) => approvals.some((each: { event: string }) => each.event === event),
        )
        const [{ approval_id, run_id }] = body.approvals
        const shown = await gateway.call('GET', `/runs/${run_id}`)
        expect(shown.body.waits_for).toMatchObject([
          { approval_id, event, approvers_needed: 1, approved_by: [] },
        ])
        answered.push(`${event} ${shown.body.run.status}`)
        await gateway.call(
          'POST',
          `/v1/approvals/${approval_id}/${verdict}`,
          { message: 'as ada says' },
          headers,
        )
      }
      const ran = runModel({ tools: ['Bash'] })
      await answerNext('run_start', 'approve')
      await answerNext('pre_tool_use', 'deny')
      await answerNext('permission_request', 'approve')
      const { run } = await ran
      expect(run).toMatchObject({ status: 'completed' })
      expect(answered).toEqual(['run_start preparing', 'pre_tool_use running', 'permission_request running'])
      expect([existsSync(join(folder, 'denied')), existsSync(join(folder, 'approved'))]).toEqual([
        false,
        true,
      ])
      expect(fake.requests.at(-1)?.text).toContain('ada denied this: as ada says')
      expect((await gateway.call('GET', `/runs/${run.run_id}`)).body.waits_for).toEqual([])
    },
    HANG,
  )

  test(
    'asks for permission first if its executor says so',
    async () => {
      const { folder, decisions, seen, runModel } = await modelScene([
        calls('Bash', { command: 'touch x' }),
        says('Refused.'),
      ])
      decisions.permission_request = () => ({ kind: 'block', reason: 'not permitted' })
      const executor = { type: 'model', permission_first: true }
      await runModel({ executor, tools: ['Bash'] })
      expect(existsSync(join(folder, 'x'))).toBe(false)
      const asked = seen.map(({ event }) => event).filter((event) => /tool|permission/.test(event))
      expect(asked).toEqual(['permission_request'])
    },
    HANG,
  )

  test(
    'repairs one answer that does not fit its schema, and goes on when a stop hook says so',
    async () => {
      const { decisions, seen, runModel } = await modelScene([
        calls('answer', { score: 'high' }),
        calls('answer', { score: 1 }),
        calls('answer', { score: 2 }),
      ])
      decisions.stop = ({ stop_hook_active }) =>
        stop_hook_active ? undefined : { kind: 'block', reason: 'look again' }
      const output_schema = {
        type: 'object',
        properties: { score: { type: 'integer' } },
        required: ['score'],
      }
      const { run, result } = await runModel({ output_schema })
      expect(run).toMatchObject({ status: 'completed', error: null })
      expect(result).toMatchObject({ result_text: null, result_data: { score: 2 } })
      expect(seen.filter(({ event }) => event === 'stop')).toHaveLength(2)
    },
    HANG,
  )

  test(
    'fails after a second answer that does not fit',
    async () => {
      const { runModel } = await modelScene([calls('answer', { score: 'high' })])
      const { run } = await runModel({ output_schema: { properties: { score: { type: 'integer' } } } })
      expect(run).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('/score must be integer'),
      })
    },
    HANG,
  )

  test(
    'fails without a call to the model if a hook blocks its prompt',
    async () => {
      const { decisions, runModel, fake } = await modelScene([says('never')])
      decisions.user_prompt_submit = () => ({ kind: 'block', reason: 'not this task' })
      const { run } = await runModel({})
      expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('not this task') })
      expect(fake.requests).toHaveLength(0)
    },
    HANG,
  )

  test(
    'starts sub-agents in lanes of their own',
    async () => {
      const { decisions, seen, runModel, fake } = await modelScene([
        calls('Agent', { prompt: 'Look around.', subagent_type: 'scout' }),
        says('The scout saw nothing.'),
        says('Enough.'),
      ])
      decisions.subagent_start = () => ({ kind: 'allow', context: 'be quick' })
      const { run, result } = await runModel({ tools: ['Agent'] })
      expect(run).toMatchObject({ status: 'completed', error: null })
      expect(result).toMatchObject({ result_text: 'Enough.' })
      expect(fake.requests[1]?.text).toContain('be quick')
      expect(fake.requests[2]?.text).toContain('The scout saw nothing.')
      const ofScout = seen.filter(({ envelope }) => envelope.lane === 'scout').map(({ event }) => event)
      expect(ofScout).toEqual(
        expect.arrayContaining(['user_prompt_submit', 'model_request', 'subagent_stop']),
      )
    },
    HANG,
  )

  test(
    'fails with the reason: no such folder, a provider that fails with a long text',
    async () => {
      const { gateway, runModel } = await modelScene([{ status: 400, body: 'x'.repeat(50_000) }])
      const { run } = await runModel({})
      expect(run).toMatchObject({
        status: 'failed',
        error: expect.stringContaining('anthropic answered 400'),
      })
      const { start } = runsOf(gateway)
      const lost = await start('worker', {}, { project_dir: '/no/such/folder' })
      expect(await untilEnded(gateway, lost.run_id)).toMatchObject({
        ...{ status: 'failed', error: expect.stringContaining('/no/such/folder is not one of the folders') },
      })
    },
    HANG,
  )

  test(
    'that is stopped ends its command and the wait for its model',
    async () => {
      const { gateway, fake, runModel } = await modelScene([{ hang: true }])
      const ended = runModel({})
      await gateway.until(async () => fake.requests.length, Boolean)
      const { runs } = (await gateway.call('GET', '/runs')).body
      await gateway.call('POST', `/runs/${runs[0].run_id}/stop`, {})
      expect((await ended).run).toMatchObject({ status: 'stopped' })
      expect(await fake.requests[0]?.ended).toBe('dropped')
    },
    HANG,
  )
})

test(
  'AO-25 a model that is the agent of a start hook blocks the run, and the hooks see its own steps too',
  async () => {
    const { gateway, seen, runModel } = await modelScene([
      calls('answer', { action: 'block', block_reason: 'not on a Friday' }),
    ])
    const { ok } = runsOf(gateway)
    const output_schema = { type: 'object', required: ['action'], properties: { action: { type: 'string' } } }
    await ok('POST', '/agents', {
      ...{ name: 'judge', type: 'autonomous', model: 'claude-x', executor: { type: 'model' }, output_schema },
    })
    const on_run_start = { type: 'agent', agent_name: 'judge', on_error: 'continue' }
    const { run } = await runModel({ hooks: { on_run_start } })
    expect(run).toMatchObject({ status: 'failed', block_reason: 'not on a Friday' })
    const ofJudge = seen.filter(({ envelope }) => envelope.agent === 'judge').map(({ event }) => event)
    expect(ofJudge).toEqual(expect.arrayContaining(['user_prompt_submit', 'model_request', 'stop']))
    expect(seen.filter(({ envelope }) => envelope.agent === 'worker')).toEqual([])
  },
  HANG,
)

test(
  'the runner of `hookhelm up` asks the models that are configured in its gateway',
  async () => {
    const fake = await startFakeModel({ script: [says('Hello from the model.')] })
    onTestFinished(() => fake.close())
    const home = projectFolder()
    const env = { HOME: home, HOOKHELM_HOME: join(home, 'hookhelm'), HOOKHELM_OUTBOUND_ALLOW: '127.0.0.1' }
    const { url, token, close } = await upGateway({ env, log: () => {}, port: 0 })
    onTestFinished(close)
    const client = createClient({ url, token })
    onTestFinished(() => client.close())
    await client.call('providers.set', {
      name: 'anthropic',
      baseUrl: fake.url('anthropic'),
      apiKey: 'stored',
    })
    const executor = { type: 'model' }
    await client.call('blueprints.create', {
      name: 'greeter',
      type: 'autonomous',
      model: 'claude-x',
      executor,
    })
    const parameters = { prompt: 'Greet.' }
    const { run_id, session_id } = await client.call('runs.start', { agent_name: 'greeter', parameters })
    await vi.waitUntil(
      async () => (await client.call('runs.show', { run_id })).run.completed_at !== null,
      HANG,
    )
    expect((await client.call('runs.show', { run_id })).run).toMatchObject({
      status: 'completed',
      error: null,
    })
    const result = await client.call('runSessions.result', { session_id })
    expect(result).toMatchObject({ result_text: 'Hello from the model.' })
    expect(fake.requests[0]?.headers).toMatchObject({ 'x-api-key': 'stored' })
  },
  HANG,
)
