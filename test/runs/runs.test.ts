import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { running } from '../gateway/running.fixture.ts'
import { databases, localRunner, runnerProcess, runningOn, runsOf, untilEnded } from './runs.fixture.ts'

const HANG = 120_000

const hook = (agent_name: string, more = {}) => ({ type: 'agent', agent_name, on_error: 'block', ...more })
const typesOf = (events: readonly { event_type: string }[]) => events.map(({ event_type }) => event_type)
const hookEvents = (events: readonly { event_type: string }[]) =>
  events.filter(({ event_type }) => event_type.startsWith('hook_'))

describe.each(databases)('on %s', (kind) => {
  async function scene(options: Parameters<typeof running>[0] = {}, concurrency?: number) {
    const gateway = await runningOn(kind, options)
    await localRunner(gateway, concurrency)
    return { gateway, ...runsOf(gateway) }
  }

  describe('a run', () => {
    test(
      'AO-52 AO-56 goes from pending to completed in a real runner',
      async () => {
        const gateway = await runningOn(kind)
        await runnerProcess(gateway)
        const { agent, start, result, events } = runsOf(gateway)
        await agent('double', 'return { n: p.n * 2 }', { output_schema: { required: ['n'] } })
        const { run_id, session_id, status } = await start('double', { n: 21 })
        expect([run_id, session_id, status]).toEqual([
          ...[expect.stringMatching(/^run_[\da-f]{12}$/), expect.stringMatching(/^ses_[\da-f]{12}$/)],
          'pending',
        ])
        expect(await untilEnded(gateway, run_id)).toMatchObject({
          status: 'completed',
          attempts: 1,
          error: null,
        })
        expect(await result(session_id)).toMatchObject({ result_data: { n: 42 }, status: 'finished' })
        const written = await gateway.until(
          () => events(session_id),
          (list) => list.length >= 6,
        )
        expect(typesOf(written)).toEqual([
          ...[
            'session_created',
            'run_started',
            'session_updated',
            'result',
            'run_completed',
            'session_updated',
          ],
        ])
      },
      HANG,
    )

    test(
      'AO-10 whose parameters its agent refuses is not created',
      async () => {
        const gateway = await runningOn(kind)
        const { agent } = runsOf(gateway)
        await agent('strict', 'return {}', { parameters_schema: { required: ['id'] } })
        const { status, body } = await gateway.call('POST', '/runs', { agent_name: 'strict', parameters: {} })
        expect([status, body.error.details]).toMatchObject([
          400,
          {
            code: 'runs.parameter_validation_failed',
            validation_errors: [
              { path: '', message: "must have required property 'id'", schema_path: '#/required' },
            ],
          },
        ])
        expect((await gateway.call('GET', '/runs')).body.runs).toEqual([])
      },
      HANG,
    )

    test(
      'fails with the reason: exit codes, output that is not JSON, or does not fit',
      async () => {
        const { gateway, agent, start } = await scene()
        await agent('exits', 'console.error("no luck"); process.exit(3)')
        await agent('talks', 'return "hello"')
        await agent('lies', 'return { n: "x" }', {
          output_schema: { properties: { n: { type: 'integer' } } },
        })
        const errorOf = async (name: string) => (await untilEnded(gateway, (await start(name)).run_id)).error
        expect(await errorOf('exits')).toBe('the command ended with exit code 3: no luck')
        expect(await errorOf('talks')).toContain('not JSON')
        expect(await errorOf('lies')).toBe('the result does not fit output_schema: /n must be integer')
      },
      HANG,
    )

    test(
      'that is stopped ends with its whole process group, also when the runner has no free place',
      async () => {
        const { gateway, agent, start, run } = await scene({}, 1)
        const folder = mkdtempSync(join(tmpdir(), 'hookhelm-runs-'))
        onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
        const file = join(folder, 'pid')
        await agent('sleeps', `require('fs').writeFileSync(p.file, String(process.pid)); await wait(600000)`)
        const { run_id } = await start('sleeps', { file })
        await gateway.until(async () => existsSync(file) && readFileSync(file, 'utf8'), Boolean)
        const pid = Number(readFileSync(file, 'utf8'))
        await gateway.call('POST', `/runs/${run_id}/stop`, {})
        expect(await untilEnded(gateway, run_id)).toMatchObject({ status: 'stopped' })
        expect(() => process.kill(pid, 0)).toThrow('ESRCH')
        expect((await run(run_id)).error).toBeNull()
      },
      HANG,
    )
  })

  describe('AO-9 a hook before the start of a run', () => {
    test(
      'AO-13 gets the envelope, and AO-24 its parameters replace those of the run',
      async () => {
        const { gateway, agent, start, result, events } = await scene()
        await agent(
          'resolver',
          'return { action: "continue", parameters: { ...p.parameters, seen: Object.keys(p).sort() } }',
        )
        await agent('report', 'return p', { hooks: { on_run_start: hook('resolver') } })
        const { run_id, session_id } = await start('report', { id: 'R1' })
        const run = await untilEnded(gateway, run_id)
        const seen = ['agent_name', 'parameters', 'run_id', 'session_id']
        expect(run).toMatchObject({
          ...{ status: 'completed', hooks: 1 },
          ...{ parameters: { id: 'R1', seen }, original_parameters: { id: 'R1' } },
        })
        expect((await result(session_id)).result_data).toEqual({ id: 'R1', seen })
        const target = { hook_type: 'on_run_start', target_type: 'agent', target_name: 'resolver', run_id }
        // AO-46 every documented field.
        expect(hookEvents(await events(session_id))).toMatchObject([
          {
            event_type: 'hook_start',
            ...target,
            hook_session_id: expect.stringMatching(/^hook_[\da-f]{12}$/),
          },
          { event_type: 'hook_complete', ...target, action: 'continue', duration_ms: expect.any(Number) },
        ])
      },
      HANG,
    )

    test(
      'AO-25 AO-26 blocks the run with its reason, whatever on_error says',
      async () => {
        const { gateway, agent, start, events } = await scene()
        await agent('guard', 'return { action: "block", block_reason: "not on Fridays" }')
        await agent('ship', 'return {}', { hooks: { on_run_start: hook('guard', { on_error: 'continue' }) } })
        const { run_id, session_id } = await start('ship')
        expect(await untilEnded(gateway, run_id)).toMatchObject({
          status: 'failed',
          ...{ error: 'Blocked by on_run_start hook: not on Fridays', block_reason: 'not on Fridays' },
          runner_id: null,
        })
        expect(hookEvents(await events(session_id))).toMatchObject([
          { event_type: 'hook_start' },
          { event_type: 'hook_blocked', hook_type: 'on_run_start', block_reason: 'not on Fridays' },
        ])
        const { body } = await gateway.call('GET', '/runs?hook_blocked=true')
        expect(body.runs.map((run: { run_id: string }) => run.run_id)).toEqual([run_id])
      },
      HANG,
    )

    test.each([
      ['AO-27 fails', 'process.exit(1)', 'Hook failed: the command ended with exit code 1'],
      ['AO-20 answers nothing', 'return []', 'returned no object'],
      ['AO-22 answers an unknown action', 'return { action: "BLOCK" }', 'neither "continue" nor "block"'],
      [
        'AO-24 changes parameters into bad ones',
        'return { action: "continue", parameters: { id: 1 } }',
        '/id must be string',
      ],
      ['AO-29 takes too long', 'await wait(600000)', 'Hook timed out after 1s'],
    ])(
      'that %s follows on_error, and hook_failed says why',
      async (_, body, why) => {
        const { gateway, agent, start, events } = await scene()
        await agent('broken', body)
        const parameters_schema = { properties: { id: { type: 'string' } } }
        const guarded = (on_error: string) => ({
          parameters_schema,
          hooks: {
            on_run_start: hook('broken', { on_error, timeout_seconds: why.includes('timed') ? 1 : 60 }),
          },
        })
        await agent('closed', 'return p', guarded('block'))
        await agent('open', 'return p', guarded('continue'))
        const closed = await start('closed', { id: 'a' })
        expect(await untilEnded(gateway, closed.run_id)).toMatchObject({ status: 'failed' })
        const open = await start('open', { id: 'a' })
        expect(await untilEnded(gateway, open.run_id)).toMatchObject({
          ...{ status: 'completed', parameters: { id: 'a' }, original_parameters: null },
        })
        for (const [started, on_error_behavior] of [
          [closed, 'block'],
          [open, 'continue'],
        ] as const) {
          const failed = await gateway.until(
            async () => hookEvents(await events(started.session_id)).at(-1),
            (event) => event?.event_type === 'hook_failed',
          )
          expect(failed).toMatchObject({ on_error_behavior, error: expect.stringContaining(why) })
        }
        // A timeout also stops the run of the hook.
        const ended = why.includes('timed') ? 'stopped' : /completed|failed/
        const runs = await gateway.until(
          async () => (await gateway.call('GET', '/runs?agent_name=broken')).body.runs,
          (list) => list.every(({ status }: { status: string }) => /stopped|completed|failed/.test(status)),
        )
        for (const { status } of runs) expect(status).toMatch(ended)
      },
      HANG,
    )

    test(
      'AO-15 whose agent refuses the input blocks the run, whatever on_error says',
      async () => {
        const { gateway, agent, start } = await scene()
        await agent('picky', 'return { action: "continue" }', { parameters_schema: { required: ['secret'] } })
        await agent('main', 'return {}', { hooks: { on_run_start: hook('picky', { on_error: 'continue' }) } })
        const ended = await untilEnded(gateway, (await start('main')).run_id)
        expect(ended).toMatchObject({ status: 'failed' })
        expect(ended.block_reason).toContain(
          "does not take this input: it must have required property 'secret'",
        )
      },
      HANG,
    )

    test(
      'AO-6 naming an agent that does not exist is a warning when saved and a failure when fired',
      async () => {
        const { gateway, agent, start } = await scene()
        const { warnings } = await agent('main', 'return {}', { hooks: { on_run_start: hook('nobody') } })
        expect(warnings).toEqual(['a hook starts the agent nobody, which does not exist yet'])
        expect((await untilEnded(gateway, (await start('main')).run_id)).error).toContain(
          'there is no agent "nobody"',
        )
      },
      HANG,
    )

    test(
      'AO-33 slower than a poll: one single runner executes the hook agent and then the main run',
      async () => {
        const options = { runs: { pollMs: 200, leaseMs: 1_000 } }
        const { gateway, agent, start } = await scene(options, 1)
        await agent('slow', 'await wait(2500); return { action: "continue", parameters: { slow: true } }')
        await agent('main', 'return p', { hooks: { on_run_start: hook('slow') } })
        const { run_id } = await start('main', { slow: false })
        expect(await untilEnded(gateway, run_id)).toMatchObject({
          status: 'completed',
          parameters: { slow: true },
        })
        const { body } = await gateway.call('GET', '/runs?agent_name=slow')
        expect(body.runs).toHaveLength(1)
      },
      HANG,
    )

    test(
      'AO-60 of a list gets the parameters of its predecessor, and the first block ends the list',
      async () => {
        const { gateway, agent, start, ok } = await scene()
        await agent('one', 'return { action: "continue", parameters: { path: [...p.parameters.path, 1] } }')
        await agent('two', 'return { action: "continue", parameters: { path: [...p.parameters.path, 2] } }')
        await agent('stop', 'return { action: "block", block_reason: "enough" }')
        await ok('POST', '/run-hooks', { name: 'second', definition: hook('two') })
        await agent('main', 'return p', { hooks: { on_run_start: [hook('one'), { $ref: 'second' }] } })
        const { run_id } = await start('main', { path: [0] })
        expect((await untilEnded(gateway, run_id)).parameters).toEqual({ path: [0, 1, 2] })
        expect(await gateway.call('DELETE', '/run-hooks/second')).toMatchObject({ status: 409 })
        await ok('PATCH', '/agents/main', { hooks: { on_run_start: [hook('stop'), hook('two')] } })
        const blocked = await start('main', { path: [0] })
        expect(await untilEnded(gateway, blocked.run_id)).toMatchObject({ block_reason: 'enough', hooks: 1 })
        await ok('DELETE', '/run-hooks/second')
        // AO-7 an empty object removes the hooks.
        await ok('PATCH', '/agents/main', { hooks: {} })
        expect(await untilEnded(gateway, (await start('main', { path: [] })).run_id)).toMatchObject({
          hooks: 0,
        })
      },
      HANG,
    )
  })

  describe('AO-36 a hook after a run', () => {
    test(
      'AO-41 starts the next agent as a child session: A → B → C',
      async () => {
        const { gateway, agent, start, events } = await scene()
        await agent('c', 'return { from: p.agent_name, got: p.result_data }')
        await agent('b', 'return { from: p.agent_name, got: p.result_data }', {
          hooks: { on_run_finish: hook('c') },
        })
        await agent('a', 'return { records: [1] }', {
          hooks: { on_run_finish: hook('b', { mode: 'async' }) },
        })
        const a = await start('a')
        await untilEnded(gateway, a.run_id)
        const child = (agent_name: string, session: string) =>
          gateway.until(
            async () =>
              (await gateway.call('GET', `/runs?agent_name=${agent_name}&parent_session_id=${session}`)).body
                .runs[0],
            (run) => run?.status === 'completed',
          )
        const b = await child('b', a.session_id)
        const c = await child('c', b.session_id)
        expect([b.depth, c.depth, b.parent_run_id]).toEqual([1, 2, a.run_id])
        expect((await runsOf(gateway).result(c.session_id)).result_data).toEqual({
          from: 'b',
          got: { from: 'a', got: { records: [1] } },
        })
        // AO-38 the eight fields.
        expect(Object.keys((await runsOf(gateway).run(b.run_id)).parameters).toSorted()).toEqual([
          ...[
            'agent_name',
            'error',
            'parameters',
            'result_data',
            'result_text',
            'run_id',
            'session_id',
            'status',
          ],
        ])
        const reported = await gateway.until(
          async () => hookEvents(await events(a.session_id)),
          (list) => list.length === 2,
        )
        expect(reported).toMatchObject([
          { event_type: 'hook_start', hook_type: 'on_run_finish', target_name: 'b' },
          { event_type: 'hook_complete', hook_type: 'on_run_finish', duration_ms: expect.any(Number) },
        ])
      },
      HANG,
    )

    test(
      'sees failed and stopped runs too, and the text of an agent without a schema',
      async () => {
        const { gateway, agent, start } = await scene()
        await agent('log', 'return {}')
        const hooks = { on_run_finish: hook('log', { on_error: 'ignore' }) }
        await agent('fails', 'process.exit(1)', { hooks })
        await agent('speaks', 'return "good morning"', { hooks, type: 'autonomous' })
        const logged = async (name: string) => {
          const { session_id } = await start(name)
          const child = await gateway.until(
            async () => (await gateway.call('GET', `/runs?parent_session_id=${session_id}`)).body.runs[0],
            (run) => run?.status === 'completed',
          )
          return (await runsOf(gateway).run(child.run_id)).parameters
        }
        expect(await logged('fails')).toMatchObject({
          status: 'failed',
          error: expect.stringContaining('exit code 1'),
        })
        expect(await logged('speaks')).toMatchObject({
          result_text: 'good morning',
          result_data: null,
          error: null,
        })
        await agent('waits', 'return {}', { hooks, demands: { tags: ['elsewhere'] } })
        const { run_id, session_id } = await start('waits')
        await gateway.call('POST', `/runs/${run_id}/stop`, {})
        const child = await gateway.until(
          async () => (await gateway.call('GET', `/runs?parent_session_id=${session_id}`)).body.runs[0],
          (run) => run?.status === 'completed',
        )
        expect((await runsOf(gateway).run(child.run_id)).parameters.status).toBe('stopped')
      },
      HANG,
    )
  })

  test(
    'ruling 28 the run of a start hook fires no run hooks, and a circle of finish hooks ends at the depth limit',
    async () => {
      const { gateway, agent, start } = await scene()
      const circle = { on_run_finish: hook('circle') }
      await agent('circle', 'return {}', { hooks: circle })
      await agent('guard', 'return { action: "continue" }', {
        hooks: { on_run_start: hook('guard'), on_run_finish: hook('circle') },
      })
      await agent('main', 'return {}', { hooks: { on_run_start: hook('guard') } })
      const runsNamed = async (name: string) =>
        (await gateway.call('GET', `/runs?agent_name=${name}`)).body.runs
      expect(await untilEnded(gateway, (await start('main')).run_id)).toMatchObject({ status: 'completed' })
      expect(await runsNamed('guard')).toMatchObject([{ hook_point: 'run_start', depth: 1 }])
      expect(await runsNamed('circle')).toEqual([])
      await start('circle')
      const skipped = () => gateway.call('GET', '/v1/executions?event=run_finish&decision=skipped')
      await gateway.until(skipped, ({ body }) => body.executions.length > 0)
      const depths = (await runsNamed('circle')).map(({ depth }: { depth: number }) => depth)
      expect(depths).toEqual([4, 3, 2, 1, 0])
    },
    HANG,
  )

  test(
    'async_callback resumes the idle parent with the result of the child',
    async () => {
      const { gateway, agent, start, result } = await scene()
      await agent('parent', 'return p.callback ?? { asked: true }')
      await agent('child', 'return { answer: 42 }')
      const parent = await start('parent')
      await untilEnded(gateway, parent.run_id)
      const more = { parent_session_id: parent.session_id, execution_mode: 'async_callback' }
      const child = await start('child', {}, more)
      const told = await gateway.until(
        () => result(parent.session_id),
        ({ result_data }) => result_data.run_id === child.run_id,
      )
      expect(told.result_data).toMatchObject({ status: 'completed', result_data: { answer: 42 } })
    },
    HANG,
  )
})
