import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { calls, type ModelScene, modelScene, says } from './executors.fixture.ts'
import { hookEventsOf } from './run-hooks.fixture.ts'
import { runsOf } from './runs.fixture.ts'

const HANG = 120_000
const bash = (command: string) => calls('Bash', { command })
const hook = (agent_name: string, more = {}) => ({ type: 'agent', agent_name, on_error: 'block', ...more })

/** A model that writes a file with its one tool call, and hooks around that call. */
async function toolRun(
  on_tool_call: unknown,
  save: (scene: ModelScene) => Promise<unknown> = async () => {},
) {
  const scene = await modelScene([bash('echo given > out.txt'), says('Done.')])
  await save(scene)
  const ended = await scene.runModel({ tools: ['Bash'], hooks: { on_tool_call } })
  const file = join(scene.folder, 'out.txt')
  return {
    ...{ ...scene, ...ended },
    written: existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined,
    hookEvents: hookEventsOf(ended.events),
    answers: scene.fake.requests.at(-1)?.text ?? '',
  }
}

const agent = (name: string, body: string) => (scene: ModelScene) => runsOf(scene.gateway).agent(name, body)

describe('AO-60 on_tool_call', () => {
  test(
    'lets a tool call of a model pass, with the input of the call',
    async () => {
      const { written, hookEvents, run } = await toolRun(
        hook('look'),
        agent(
          'look',
          'return p.tool_input.command.includes("given") && p.tool_name === "Bash" ? { action: "continue" } : {}',
        ),
      )
      expect([run.status, written]).toEqual(['completed', 'given'])
      const about = { hook_type: 'on_tool_call', target_type: 'agent', target_name: 'look' }
      expect(hookEvents).toMatchObject([
        { event_type: 'hook_start', ...about },
        { event_type: 'hook_complete', ...about, action: 'continue' },
      ])
    },
    HANG,
  )

  test(
    'changes the arguments, and the event has both',
    async () => {
      const { written, hookEvents } = await toolRun(
        hook('change'),
        agent(
          'change',
          'return { action: "continue", parameters: { ...p.tool_input, command: "echo changed > out.txt" } }',
        ),
      )
      expect(written).toBe('changed')
      expect(hookEvents[1]).toMatchObject({
        ...{ changed_fields: ['command'], original: { command: 'echo given > out.txt' } },
        changed: { command: 'echo changed > out.txt' },
      })
    },
    HANG,
  )

  test(
    'blocks the call and not the run, and the model learns why',
    async () => {
      const { written, hookEvents, run, answers } = await toolRun(
        hook('block', { on_error: 'continue' }),
        agent('block', 'return { action: "block", block_reason: "no files today" }'),
      )
      expect([run.status, run.block_reason, written]).toEqual(['completed', null, undefined])
      expect(answers).toContain('no files today')
      expect(hookEvents.at(-1)).toMatchObject({ event_type: 'hook_blocked', block_reason: 'no files today' })
    },
    HANG,
  )

  test.each([
    ['fails', 'process.exit(1)', {}],
    ['takes too long', 'await wait(600000)', { timeout_seconds: 1 }],
  ])(
    'that %s blocks the call, or lets it pass with on_error: continue',
    async (_, body, more) => {
      const closed = await toolRun(hook('broken', more), agent('broken', body))
      expect(closed.written).toBeUndefined()
      const open = await toolRun(hook('broken', { ...more, on_error: 'continue' }), agent('broken', body))
      expect(open.written).toBe('given')
      const ends = [closed, open].map(({ hookEvents }) => hookEvents.at(-1))
      expect(ends).toMatchObject([
        { event_type: 'hook_failed', on_error_behavior: 'block' },
        { event_type: 'hook_failed', on_error_behavior: 'continue' },
      ])
    },
    HANG,
  )

  test(
    'asks anew about every call, and also about the calls of a sub-agent',
    async () => {
      const scene = await modelScene([
        bash('echo one > one.txt'),
        calls('Agent', { prompt: 'Write.', subagent_type: 'scout' }),
        bash('echo two > two.txt'),
        says('The scout is done.'),
        bash('echo three > three.txt'),
        says('Done.'),
      ])
      await runsOf(scene.gateway).agent(
        'not-two',
        'return JSON.stringify(p.tool_input).includes("two.txt") ? { action: "block", block_reason: "not two" } : { action: "continue" }',
      )
      const { run } = await scene.runModel({
        ...{ tools: ['Bash', 'Agent'], hooks: { on_tool_call: hook('not-two') } },
      })
      expect(run.status).toBe('completed')
      const exists = ['one', 'two', 'three'].map((name) => existsSync(join(scene.folder, `${name}.txt`)))
      expect(exists).toEqual([true, false, true])
    },
    HANG,
  )

  test(
    'of one blueprint does not see the calls of another',
    async () => {
      const scene = await modelScene([bash('echo given > out.txt'), says('Done.')])
      const { ok } = runsOf(scene.gateway)
      await runsOf(scene.gateway).agent('block', 'return { action: "block" }')
      await ok('POST', '/agents', {
        ...{ name: 'strict', type: 'autonomous', executor: { type: 'model' }, model: 'claude-x' },
        hooks: { on_tool_call: hook('block') },
      })
      const { run, events } = await scene.runModel({ tools: ['Bash'] })
      expect(run.status).toBe('completed')
      expect(existsSync(join(scene.folder, 'out.txt'))).toBe(true)
      expect(hookEventsOf(events)).toEqual([])
    },
    HANG,
  )

  test(
    'AO-32 of an agent that serves a hook applies to its tools as well, and a circle is cut',
    async () => {
      const scene = await modelScene(
        ({ system }) =>
          system.includes('judge') ? bash('echo judged >> judged.txt') : bash('echo given > out.txt'),
        ['--concurrency', '8'],
      )
      const { ok } = runsOf(scene.gateway)
      const judge = {
        ...{ name: 'judge', type: 'autonomous', executor: { type: 'model', max_steps: 2 } },
        ...{ model: 'claude-x', system_prompt: 'You are the judge.', tools: ['Bash'] },
        hooks: { on_tool_call: hook('judge', { timeout_seconds: 30 }) },
      }
      await ok('POST', '/agents', judge)
      await scene.runModel({
        ...{ tools: ['Bash'], hooks: { on_tool_call: hook('judge', { timeout_seconds: 60 }) } },
        executor: { type: 'model', max_steps: 2 },
      })
      expect(existsSync(join(scene.folder, 'out.txt'))).toBe(false)
      expect(existsSync(join(scene.folder, 'judged.txt'))).toBe(false)
      const { runs } = await ok('GET', '/runs?agent_name=judge&limit=50')
      expect(Math.max(...runs.map(({ depth }: { depth: number }) => depth))).toBe(4)
    },
    HANG,
  )
})
