import { describe, expect, test } from 'vitest'
import { running, shared } from '../gateway/running.fixture.ts'
import { type Behaviour, hookEventsOf, hookOf, hookReceiver, saveHookAgents } from './run-hooks.fixture.ts'
import { commandOf, runnerProcess, runsOf, sharedRunnerProcess, untilEnded } from './runs.fixture.ts'

const HANG = 120_000
const receiver = hookReceiver()
const gateway = shared(() => ({
  outbound: { allow: ['127.0.0.1'] },
  env: { CRM_TOKEN: 'crm-token-4711', OTHER: 'other-value' },
  settings: { header_variables: ['CRM_TOKEN', 'UNSET'] },
}))
sharedRunnerProcess(gateway, '--concurrency', '4')

const parts = () => ({ ...runsOf(gateway()), gateway: gateway() })
let saved: Promise<void> | undefined
let number = 0

/** Runs an agent that returns its parameters, with these hooks, to its end. */
async function runWith(
  hooks: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
) {
  const { agent, start, events, result } = parts()
  saved ??= saveHookAgents(gateway())
  await saved
  const name = `main-${number++}`
  const schema = { type: 'object', properties: { id: { type: 'string' } } }
  await agent(name, String(more.body ?? 'return p'), {
    ...{ parameters_schema: schema, output_schema: schema, hooks },
    ...(more.timeout_seconds === undefined
      ? {}
      : { executor: { command: commandOf(String(more.body)), timeout_seconds: more.timeout_seconds } }),
  })
  const { run_id, session_id } = await start(name, { id: 'R1' })
  const run = await untilEnded(gateway(), run_id)
  const hookEvents = async () => hookEventsOf(await events(session_id))
  const stored = await gateway().call('GET', `/sessions/${session_id}/result`)
  return { name, run, run_id, session_id, hookEvents, events, result, stored: stored.body.result_data }
}

/** The last event of the hooks of a run, once it is one of these. */
const untilHook = (hookEvents: () => Promise<readonly Record<string, unknown>[]>, type: string) =>
  gateway().until(
    async () => (await hookEvents()).find(({ event_type }) => event_type === type),
    (event) => event !== undefined,
  )

const types = ['agent', 'http'] as const
const one = (type: 'agent' | 'http', behaviour: Behaviour, more = {}) =>
  hookOf(type, behaviour, { receiver, ...more })

describe.each(types)('AO-59 a hook of type %s', (type) => {
  const target = () => ({
    ...{ target_type: type },
    target_name: (behaviour: Behaviour) => (type === 'agent' ? `hook-${behaviour}` : receiver.url(behaviour)),
  })

  describe.each([
    ['on_run_start', 'parameters'],
    ['on_result', 'result'],
  ] as const)('AO-60 at %s', (point, what) => {
    test(
      'AO-46 lets the run go on unchanged',
      async () => {
        const { run, run_id, stored, hookEvents } = await runWith({ [point]: one(type, 'continue') })
        expect(run).toMatchObject({ status: 'completed', original_parameters: null })
        expect(stored).toEqual({ id: 'R1' })
        const about = {
          ...{ hook_type: point, target_type: type, run_id },
          target_name: target().target_name('continue'),
        }
        const events = await hookEvents()
        expect(events).toMatchObject([
          { event_type: 'hook_start', ...about },
          { event_type: 'hook_complete', ...about, action: 'continue', duration_ms: expect.any(Number) },
        ])
        expect(events[1]).not.toHaveProperty('changed_fields')
      },
      HANG,
    )

    test(
      'changes it, and the event tells which hook changed what',
      async () => {
        const { run, stored, hookEvents } = await runWith({ [point]: one(type, 'change') })
        expect(run.status).toBe('completed')
        expect(stored).toEqual({ id: 'R1', by: 'hook' })
        const [, complete] = await hookEvents()
        expect(complete).toMatchObject(
          what === 'parameters'
            ? { changed_fields: ['by'], original: { id: 'R1' }, changed: { id: 'R1', by: 'hook' } }
            : { changed_fields: ['result_data'] },
        )
        // A hook that removes something from a result removes it everywhere.
        if (what === 'result') expect(complete).not.toHaveProperty('original')
      },
      HANG,
    )

    test(
      'AO-26 blocks the run with its reason, whatever on_error says',
      async () => {
        const { run, stored, hookEvents } = await runWith({
          [point]: one(type, 'block', { on_error: 'continue' }),
        })
        expect(run).toMatchObject({
          ...{ status: 'failed', block_reason: 'not on Fridays' },
          error: `Blocked by ${point} hook: not on Fridays`,
        })
        expect(stored ?? null).toBeNull()
        expect(await untilHook(hookEvents, 'hook_blocked')).toMatchObject({
          ...{ hook_type: point, target_type: type, block_reason: 'not on Fridays', action: 'block' },
          duration_ms: expect.any(Number),
        })
      },
      HANG,
    )

    test.each([
      ['AO-30 fails', 'fail', /no luck|answered 400/],
      ['AO-21 answers nonsense', 'nonsense', /neither "continue" nor "block"/],
      ['changes it so that its schema refuses it', 'bad', /\/id must be string/],
      ['AO-28 takes too long', 'slow', /^Hook timed out after 1s$/],
    ] as const)(
      'that %s follows on_error: block, continue and ignore',
      async (_, behaviour, why) => {
        const limited = behaviour === 'slow' ? { timeout_seconds: 1 } : {}
        for (const on_error of ['block', 'continue', 'ignore'] as const) {
          const { run, stored, hookEvents } = await runWith({
            [point]: one(type, behaviour, { on_error, ...limited }),
          })
          const on_error_behavior = on_error === 'block' ? 'block' : 'continue'
          expect([run.status, stored ?? null]).toEqual(
            on_error === 'block' ? ['failed', null] : ['completed', { id: 'R1' }],
          )
          expect(await untilHook(hookEvents, 'hook_failed')).toMatchObject({
            ...{ hook_type: point, target_type: type, on_error_behavior },
            ...{ error: expect.stringMatching(why), duration_ms: expect.any(Number) },
          })
        }
      },
      HANG,
    )

    test(
      'AO-61 in a list gets what its predecessor made, and the first block ends the list',
      async () => {
        const many = await runWith({
          [point]: [one('agent', 'change'), one('http', 'continue'), one(type, 'block'), one(type, 'change')],
        })
        expect(many.run).toMatchObject({ status: 'failed', block_reason: 'not on Fridays' })
        await untilHook(many.hookEvents, 'hook_blocked')
        const names = (await many.hookEvents())
          .filter(({ event_type }) => event_type !== 'hook_start')
          .map(({ event_type, target_name }) => [event_type, target_name])
        expect(names).toEqual([
          ['hook_complete', 'hook-change'],
          ['hook_complete', receiver.url('continue')],
          ['hook_blocked', target().target_name('block')],
        ])
        const { body } = receiver.at('continue').at(-1) ?? {}
        const seen = what === 'result' ? body.result.result_data : body.parameters
        expect(seen).toEqual({ id: 'R1', by: 'hook' })
      },
      HANG,
    )
  })

  describe.each([
    ['on_run_finish', 'return p', {}],
    ['on_error', 'console.error("broken"); process.exit(3)', {}],
    ['on_timeout', 'await wait(600000)', { timeout_seconds: 1 }],
  ] as const)('AO-60 at %s', (point, body, more) => {
    test.each([
      ['continue', 'hook_complete'],
      ['block', 'hook_complete'],
      ['fail', 'hook_failed'],
    ] as const)(
      'AO-37 AO-40 AO-42 AO-47 that answers %s changes nothing: %s',
      async (behaviour, end) => {
        const hook = one(type, behaviour, { mode: 'async', on_error: 'block' })
        const { run, hookEvents, run_id } = await runWith({ [point]: hook }, { body, ...more })
        expect(run).toMatchObject({
          status: point === 'on_run_finish' ? 'completed' : 'failed',
          timed_out: point === 'on_timeout',
          block_reason: null,
        })
        expect(await untilHook(hookEvents, 'hook_start')).toMatchObject({ hook_type: point, run_id })
        expect(await untilHook(hookEvents, end)).toMatchObject({ hook_type: point, target_type: type })
        expect((await gateway().call('GET', `/runs/${run_id}`)).body.run.status).toBe(run.status)
      },
      HANG,
    )
  })
})

describe('the input of an http hook', () => {
  test(
    'AO-38 AO-39 AO-59 is the documented envelope of its point, and the method is the one it names',
    async () => {
      const at = (path: string, more = {}) => ({
        ...{ type: 'http', url: receiver.url(path), on_error: 'continue', ...more },
      })
      const { name, run_id, session_id } = await runWith({
        on_run_start: at('continue/start', { method: 'PUT' }),
        on_result: at('continue/result', { method: 'PATCH' }),
        on_run_finish: at('continue/finish'),
      })
      const ids = { agent_name: name, session_id, run_id }
      const result = { result_text: null, result_data: { id: 'R1' } }
      expect(receiver.at('continue/start')).toMatchObject([{ method: 'PUT' }])
      expect(receiver.at('continue/start')[0]?.body).toEqual({ parameters: { id: 'R1' }, ...ids })
      expect(receiver.at('continue/result')).toMatchObject([{ method: 'PATCH' }])
      expect(receiver.at('continue/result')[0]?.body).toEqual({ parameters: { id: 'R1' }, result, ...ids })
      await gateway().until(
        async () => receiver.at('continue/finish').length,
        (count) => count === 1,
      )
      expect(receiver.at('continue/finish')).toMatchObject([{ method: 'POST' }])
      expect(receiver.at('continue/finish')[0]?.body).toEqual({
        ...{ parameters: { id: 'R1' }, ...result, status: 'completed', error: null, ...ids },
      })
    },
    HANG,
  )

  test(
    'AO-60 tells why the run failed, or that it took too long',
    async () => {
      const hooks = {
        on_error: { type: 'http', url: receiver.url('continue/error'), on_error: 'ignore' },
        on_timeout: { type: 'http', url: receiver.url('continue/timeout'), on_error: 'ignore' },
      }
      const failed = await runWith(hooks, { body: 'process.exit(3)' })
      const late = await runWith(hooks, { body: 'await wait(600000)', timeout_seconds: 1 })
      for (const [path, { run_id }, error] of [
        ['continue/error', failed, 'the command ended with exit code 3: '],
        ['continue/timeout', late, 'the run took longer than 1 s and was ended'],
      ] as const) {
        await gateway().until(
          async () => receiver.at(path).length,
          (count) => count > 0,
        )
        expect(receiver.at(path).map(({ body }) => body)).toMatchObject([
          { run_id, status: 'failed', error, parameters: { id: 'R1' } },
        ])
      }
    },
    HANG,
  )
})

describe('AO-59 variables in headers', () => {
  const withHeader = (value: string, path = 'continue/headers') => ({
    ...{ type: 'http', url: receiver.url(path), on_error: 'block' },
    headers: { Authorization: value, 'X-Team': 'blue' },
  })

  test(
    'are replaced if an administrator allows their names',
    async () => {
      const { run } = await runWith({ on_run_start: withHeader(`Bearer \${CRM_TOKEN}`) })
      expect(run.status).toBe('completed')
      expect(receiver.at('continue/headers')).toMatchObject([
        { headers: { authorization: 'Bearer crm-token-4711', 'x-team': 'blue' } },
      ])
    },
    HANG,
  )

  test.each([['OTHER'], ['HOOKHELM_HOME'], ['PATH'], ['']])(
    'AO-2 with the name %j are refused when saved, in a blueprint and in a named hook',
    async (name) => {
      const hook = withHeader(`Bearer \${${name}}`)
      const blueprint = { name: 'refused', type: 'procedural', executor: { command: ['true'] } }
      const answers = [
        await gateway().call('POST', '/agents', { ...blueprint, hooks: { on_run_start: hook } }),
        await gateway().call('POST', '/run-hooks', { name: 'refused', definition: hook }),
      ]
      for (const { status, body } of answers)
        expect([status, body.error]).toMatchObject([
          400,
          { details: { code: 'config.field', at: expect.stringMatching(/headers\.Authorization$/) } },
        ])
    },
    HANG,
  )

  test(
    'that are not set, or no longer allowed, fail when fired, and send nothing',
    async () => {
      const { run } = await runWith({ on_run_start: withHeader(`\${UNSET}`, 'continue/unset') })
      expect(run.status).toBe('failed')
      expect(run.error).toContain('the variable UNSET, which is not set or not allowed')
      expect(receiver.at('continue/unset')).toEqual([])
      const { ok } = parts()
      const allow = (header_variables: unknown) =>
        ok('PATCH', '/v1/settings', { settings: { header_variables }, scope: 'gateway' })
      const hook = withHeader(`\${CRM_TOKEN}`, 'continue/revoked')
      const before = await runWith({ on_run_start: hook })
      expect(before.run.status).toBe('completed')
      await allow([])
      const { run_id } = await ok('POST', '/runs', { agent_name: before.name, parameters: { id: 'R2' } })
      expect((await untilEnded(gateway(), run_id)).error).toContain('the variable CRM_TOKEN')
      expect(receiver.at('continue/revoked')).toHaveLength(1)
      await allow(['CRM_TOKEN', 'UNSET'])
    },
    HANG,
  )

  test('cannot be those of the gateway: the setting refuses them, and only the master scope sets it', async () => {
    const set = (header_variables: unknown) =>
      gateway().call('PATCH', '/v1/settings', { settings: { header_variables }, scope: 'gateway' })
    expect((await set(['HOOKHELM_TOKEN'])).status).toBe(400)
    expect((await set(['CRM_TOKEN', 'UNSET'])).status).toBe(200)
  })
})

describe('AO-60 an async hook', () => {
  test.each(types)(
    'of type %s at on_result runs, and nothing waits for it or follows from it',
    async (type) => {
      const { run, stored, hookEvents } = await runWith({
        on_result: one(type, 'block', { mode: 'async' }),
      })
      expect([run.status, run.block_reason, stored]).toEqual(['completed', null, { id: 'R1' }])
      expect(await untilHook(hookEvents, 'hook_complete')).toMatchObject({
        ...{ action: 'block', block_reason: 'not on Fridays' },
      })
    },
    HANG,
  )

  test('is refused at on_run_start, also by its name', async () => {
    const { ok } = parts()
    const definition = one('http', 'continue', { mode: 'async' })
    await ok('POST', '/run-hooks', { name: 'in-background', definition })
    for (const hook of [definition, { $ref: 'in-background' }]) {
      const blueprint = { name: 'never', type: 'procedural', executor: { command: ['true'] } }
      const { status, body } = await gateway().call('POST', '/agents', {
        ...{ ...blueprint, hooks: { on_run_start: hook } },
      })
      expect([status, body.error.message]).toEqual([400, expect.stringContaining('cannot be async')])
    }
  })
})

describe('AO-60 a named hook', () => {
  test(
    'of type http serves many agents, follows its changes, and is deleted only when none refers to it',
    async () => {
      const { ok } = parts()
      await ok('POST', '/run-hooks', { name: 'gate', definition: one('http', 'block') })
      const first = await runWith({ on_run_start: { $ref: 'gate' } })
      expect(first.run).toMatchObject({ status: 'failed', block_reason: 'not on Fridays' })
      await ok('PATCH', '/run-hooks/gate', { definition: { url: receiver.url('continue') } })
      const { run_id } = await ok('POST', '/runs', { agent_name: first.name, parameters: { id: 'R2' } })
      expect((await untilEnded(gateway(), run_id)).status).toBe('completed')
      // Another type replaces the fields of the former one.
      const agentHook = { type: 'agent', agent_name: 'hook-block', on_error: 'block' }
      const { hook } = await ok('PATCH', '/run-hooks/gate', { definition: agentHook })
      expect(hook.definition).toEqual(agentHook)
      const refused = await gateway().call('DELETE', '/run-hooks/gate')
      expect([refused.status, refused.body.error.message]).toEqual([...[409, `${first.name} refer to gate`]])
      await ok('PATCH', `/agents/${first.name}`, { hooks: {} })
      await ok('DELETE', '/run-hooks/gate')
    },
    HANG,
  )
})

describe('AO-12 a session that is resumed', () => {
  test(
    'AO-11 runs the hooks that its agent has now',
    async () => {
      const { ok } = parts()
      const { name, session_id, run } = await runWith({})
      expect(run.status).toBe('completed')
      await ok('PATCH', `/agents/${name}`, { hooks: { on_run_start: one('http', 'block') } })
      const resumed = await ok('POST', `/sessions/${session_id}/resume`, { parameters: { more: 1 } })
      expect(await untilEnded(gateway(), resumed.run_id)).toMatchObject({
        ...{ status: 'failed', block_reason: 'not on Fridays' },
      })
    },
    HANG,
  )
})

describe('the run of a hook', () => {
  test(
    'AO-32 fires no run hooks, while what on_error starts is an ordinary run',
    async () => {
      const { agent, ok, gateway: at } = parts()
      const inner = { type: 'http', url: receiver.url('continue/inner'), on_error: 'block' }
      const all = { on_run_start: inner, on_result: inner, on_run_finish: inner, on_error: inner }
      await agent('hook-with-hooks', 'return { action: "continue" }', { hooks: all })
      await agent('cleaner', 'return {}', {
        hooks: { on_run_start: { ...inner, url: receiver.url('continue/outer') } },
      })
      const hook = { type: 'agent', agent_name: 'hook-with-hooks', on_error: 'block' }
      const { run } = await runWith({ on_run_start: hook, on_result: hook })
      expect(run.status).toBe('completed')
      expect(receiver.at('continue/inner')).toEqual([])
      await runWith(
        { on_error: { type: 'agent', agent_name: 'cleaner', on_error: 'continue' } },
        { body: 'process.exit(1)' },
      )
      const { runs } = await at.until(
        () => ok('GET', '/runs?agent_name=cleaner'),
        (list) => list.runs[0]?.status === 'completed',
      )
      expect(runs).toMatchObject([{ depth: 1, hook_point: null, hooks: 1 }])
      expect(receiver.at('continue/outer')).toHaveLength(1)
    },
    HANG,
  )
})

describe('one single runner', () => {
  test(
    'executes a run and then the agent of its on_result hook',
    async () => {
      const alone = await running()
      await runnerProcess(alone, '--concurrency', '1')
      const { agent, start, result } = runsOf(alone)
      await agent('polish', 'return { action: "continue", result: { result_data: { polished: true } } }')
      await agent('main', 'return {}', {
        hooks: { on_result: { type: 'agent', agent_name: 'polish', on_error: 'block' } },
      })
      const { run_id, session_id } = await start('main')
      expect((await untilEnded(alone, run_id)).status).toBe('completed')
      expect((await result(session_id)).result_data).toEqual({ polished: true })
    },
    HANG,
  )
})

describe('a result whose hook takes longer than a report may wait', () => {
  test(
    'is sent again by the runner, and its hook is asked once',
    async () => {
      const patient = await running({ outbound: { allow: ['127.0.0.1'] }, runs: { pollMs: 200 } })
      await runnerProcess(patient)
      const { agent, start, result } = runsOf(patient)
      const hook = { type: 'http', url: receiver.url('later/once'), on_error: 'block' }
      await agent('main', 'return { n: 1 }', { hooks: { on_result: hook } })
      const { run_id, session_id } = await start('main')
      expect(await untilEnded(patient, run_id)).toMatchObject({ status: 'completed', error: null })
      expect((await result(session_id)).result_data).toEqual({ n: 1 })
      expect(receiver.at('later/once')).toHaveLength(1)
    },
    HANG,
  )
})

describe('AO-7 a change of a blueprint', () => {
  test('that names a stale version is refused', async () => {
    const { agent, ok } = parts()
    await agent('versioned', 'return {}')
    const { blueprint } = await ok('PATCH', '/agents/versioned', { version: 1, description: 'one' })
    expect(blueprint).toMatchObject({ version: 2, definition: { description: 'one' } })
    expect(blueprint.definition).not.toHaveProperty('version')
    const { status, body } = await gateway().call('PATCH', '/agents/versioned', {
      version: 1,
      description: 'two',
    })
    expect([status, body.error]).toMatchObject([
      409,
      { details: { code: 'gateway.conflict', at: 'version' } },
    ])
    expect((await ok('GET', '/agents/versioned')).blueprint.definition.description).toBe('one')
  })
})
