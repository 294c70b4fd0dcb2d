import { expect, test } from 'vitest'
import { running } from '../gateway/running.fixture.ts'
import { failedTool, rulesOf } from './recovery.fixture.ts'

const HANG = 120_000

test(
  'a coding agent that a rule started, and that fails like the first, does not start the next for ever',
  async () => {
    const gateway = await running({ edition: 'standard' })
    const { ok, rule, switchOn, settled, firings, audited } = rulesOf(gateway)
    await switchOn()
    await ok('POST', '/agents', {
      ...{ name: 'coder', type: 'autonomous' },
      executor: { profile: 'coders' },
    })
    await rule({
      id: 'loop',
      trigger: { event: 'PostToolUseFailure' },
      ...{ cooldownMs: 0, dedupWindowMs: 0 },
      actions: [{ type: 'spawn_fallback_agent', agentType: 'coder' }],
    })
    const { runner_id } = await ok('POST', '/runner/register', {
      ...{ hostname: 'h', project_dir: '/srv', executor_profile: 'coders' },
    })
    const fail = (session_id: string) =>
      ok('POST', '/v1/agents/claude-code/PostToolUseFailure', {
        ...{ session_id, cwd: '/srv', hook_event_name: 'PostToolUseFailure', tool_name: 'Edit' },
        ...{ tool_input: { file_path: '/a' }, error: `failed in ${session_id}` },
      })
    /** The agent of the next run begins a session of its own. */
    const begin = async (executor_session_id: string) => {
      const { run } = await ok('GET', `/runner/runs?runner_id=${runner_id}`)
      await ok('POST', `/runner/runs/${run.run_id}/started`, { runner_id, executor_session_id })
      return run.run_id
    }
    await fail('of a person')
    await settled(1)
    const first = await begin('own-1')
    await fail('own-1')
    await settled(2)
    const second = await begin('own-2')
    await fail('own-2')
    // The same from a program of the run that names it and forgets its depth.
    await gateway.dispatch('post_tool_use_failure', failedTool, { envelope: { run: second } })
    const skipped = await gateway.until(
      async () => {
        const { events } = await ok('GET', '/v1/events?event=post_tool_use_failure&limit=50')
        const rows = await Promise.all(events.map(({ event_id }: { event_id: string }) => audited(event_id)))
        return rows.flat().filter(({ decision }) => decision === 'skipped')
      },
      (rows) => rows.length === 2,
    )
    for (const { metadata } of skipped) expect(metadata.reason).toBe('max chain depth reached (2/2)')
    expect(await firings()).toMatchObject([
      { depth: 1, run_id: first, session_id: 'own-1' },
      { depth: 0, run_id: null },
    ])
  },
  HANG,
)
