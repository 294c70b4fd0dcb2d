/** What the tests of the original assert, in our words: twelve of its unit tests and its four integration tests. */
import { describe, expect, test, vi } from 'vitest'
import type { HookChainRule } from '../../src/hook-chains.ts'
import { configFile, type OriginalHost, originalModule } from './original.fixture.ts'

const spawn = { type: 'spawn_fallback_agent' } as const
const onFailedTask = { event: 'TaskCompleted', outcome: 'failed' } as const
const open = { version: 1, enabled: true, maxChainDepth: 3, defaultCooldownMs: 0, defaultDedupWindowMs: 0 }

function oneRule(fields: object, config: object = {}): string {
  return configFile({
    ...open,
    ...config,
    rules: [{ id: 'rule', trigger: onFailedTask, actions: [spawn], ...fields }],
  })
}

function failedTask(payload: Record<string, unknown>) {
  return { eventName: 'TaskCompleted', outcome: 'failed', payload } as const
}

describe('the config of the original', () => {
  test('CH-3 is off while the variable is unset, although the file exists', () => {
    const { loadHookChainsConfig } = originalModule({ gate: undefined })
    const loaded = loadHookChainsConfig({ pathOverride: oneRule({}) })
    expect(loaded).toMatchObject({ exists: false, config: { enabled: false, rules: [] } })
  })

  test('CH-17 is read once per time and size of the file', () => {
    const { loadHookChainsConfig } = originalModule()
    const pathOverride = oneRule({ id: 'kept' })
    const [first, second] = [loadHookChainsConfig({ pathOverride }), loadHookChainsConfig({ pathOverride })]
    expect([first.fromCache, second.fromCache]).toEqual([false, true])
    for (const { exists, error, config } of [first, second]) {
      expect([exists, error, config.enabled]).toEqual([true, undefined, true])
      expect(config.rules.map(({ id }) => id)).toEqual(['kept'])
    }
  })

  test('CH-5 may stand under hookChains', () => {
    const rule = {
      id: 'inside',
      trigger: { event: 'PostToolUseFailure', outcomes: ['failed'] },
      actions: [{ type: 'notify_team' }],
    }
    const pathOverride = configFile({ hookChains: { ...open, rules: [rule] } })
    const { error, config } = originalModule().loadHookChainsConfig({ pathOverride })
    expect([error, config.enabled, config.rules[0]?.id]).toEqual([undefined, true, 'inside'])
  })

  test('CH-11 CH-13 is off if a rule is invalid', () => {
    const pathOverride = oneRule({ trigger: { ...onFailedTask, outcomes: ['failed'] } })
    const loaded = originalModule().loadHookChainsConfig({ pathOverride })
    expect(loaded).toMatchObject({
      exists: true,
      error: expect.any(String),
      config: { enabled: false, rules: [] },
    })
  })
})

describe('rules of the original', () => {
  const { evaluateHookChainRules } = originalModule()

  test('CH-22 CH-25 CH-27 CH-28 match by event, outcome and condition', () => {
    const rule: HookChainRule = {
      id: 'edit-denied',
      trigger: { event: 'PostToolUseFailure', outcome: 'failed' },
      condition: {
        toolNames: ['Edit'],
        errorIncludes: ['permission'],
        eventFieldEquals: { 'meta.source': 'scheduler' },
      },
      actions: [spawn],
    }
    const payload = { tool_name: 'Edit', error: 'Permission denied by policy', meta: { source: 'scheduler' } }
    const matches = evaluateHookChainRules([rule], {
      eventName: 'PostToolUseFailure',
      outcome: 'failed',
      payload,
    })
    expect(matches.map((match) => match.rule.id)).toEqual(['edit-denied'])
  })

  test('CH-23 CH-25 do not match another event, nor another tool', () => {
    const rule: HookChainRule = {
      id: 'write-failed',
      trigger: { event: 'PostToolUseFailure', outcomes: ['failed'] },
      condition: { toolNames: ['Write'] },
      actions: [spawn],
    }
    const at = (eventName: string, tool_name: string) =>
      evaluateHookChainRules([rule], { eventName, outcome: 'failed', payload: { tool_name } })
    expect(at('TaskCompleted', 'Write')).toEqual([])
    expect(at('PostToolUseFailure', 'Edit')).toEqual([])
    expect(at('PostToolUseFailure', 'Write')).toHaveLength(1)
  })
})

describe('guards of the original', () => {
  async function dispatchTwice(configPathOverride: string, payloads: readonly Record<string, unknown>[]) {
    const { dispatchHookChainsForEvent } = originalModule()
    const onSpawnFallbackAgent = vi.fn(async () => ({ launched: true, agentId: 'a' }))
    const results = []
    for (const payload of payloads)
      results.push(
        await dispatchHookChainsForEvent({
          configPathOverride,
          event: failedTask(payload),
          runtime: { onSpawnFallbackAgent },
        }),
      )
    expect(onSpawnFallbackAgent).toHaveBeenCalledTimes(1)
    return results.map(({ actionResults: [first] }) => first)
  }

  test('CH-38 CH-43 the same event is answered once within the dedup window', async () => {
    const same = { task_id: 'task-1', error: 'boom' }
    const path = oneRule(
      { cooldownMs: 0, dedupWindowMs: 60_000, actions: [{ ...spawn, id: 'one' }] },
      { maxChainDepth: 4 },
    )
    const [first, second] = await dispatchTwice(path, [same, same])
    expect([first?.status, second?.status]).toEqual(['executed', 'skipped'])
    expect(second?.reason).toContain('dedup')
  })

  test('CH-35 a rule does not fire again during its cooldown', async () => {
    const path = oneRule({ cooldownMs: 60_000, dedupWindowMs: 0 }, { maxChainDepth: 4 })
    const [first, second] = await dispatchTwice(path, [{ task_id: 'task-1' }, { task_id: 'task-2' }])
    expect([first?.status, second?.status]).toEqual(['executed', 'skipped'])
    expect(second?.reason).toContain('cooldown')
  })

  test('CH-32 nothing fires at the maximal depth', async () => {
    const onSpawnFallbackAgent = vi.fn(async () => ({ launched: true }))
    const result = await originalModule().dispatchHookChainsForEvent({
      configPathOverride: oneRule({}, { maxChainDepth: 1 }),
      event: failedTask({ task_id: 'deep' }),
      runtime: { chainDepth: 1, onSpawnFallbackAgent },
    })
    expect(result).toMatchObject({ enabled: true, matchedRuleIds: [], actionResults: [] })
    expect(onSpawnFallbackAgent).not.toHaveBeenCalled()
  })
})

describe('actions of the original', () => {
  const dispatchOne = async (action: object, host: OriginalHost, runtime: object) => {
    const event = failedTask({ task_id: 'one' })
    const configPathOverride = oneRule({ actions: [action] })
    const { actionResults } = await originalModule(host).dispatchHookChainsForEvent({
      configPathOverride,
      event,
      runtime,
    })
    return actionResults[0]
  }

  test('CH-54 a fallback without a launcher fails', async () => {
    const result = await dispatchOne(spawn, {}, {})
    expect(result?.status).toBe('failed')
    expect(result?.reason).toContain('launcher')
  })

  test('CH-47 a disabled action does not call back', async () => {
    const onSpawnFallbackAgent = vi.fn()
    const result = await dispatchOne({ ...spawn, enabled: false }, {}, { onSpawnFallbackAgent })
    expect(result?.status).toBe('skipped')
    expect(result?.reason).toContain('disabled')
    expect(onSpawnFallbackAgent).not.toHaveBeenCalled()
  })

  test('CH-69 a denied permission skips the warm-up before its callback', async () => {
    const onWarmRemoteCapacity = vi.fn()
    const result = await dispatchOne(
      { type: 'warm_remote_capacity' },
      { allowRemoteSessions: false },
      { onWarmRemoteCapacity },
    )
    expect(result?.status).toBe('skipped')
    expect(result?.reason).toContain('policy')
    expect(onWarmRemoteCapacity).not.toHaveBeenCalled()
  })
})

describe('the original as a whole', () => {
  const mesh = { name: 'mesh', members: ['lead', 'worker-1', 'worker-2'] }

  test('CH-46 CH-48 a failed task starts the fallback and notifies the team', async () => {
    const onSpawnFallbackAgent = vi.fn(async () => ({ launched: true, agentId: 'a' }))
    const onNotifyTeam = vi.fn(async () => ({ sent: true, recipientCount: 2 }))
    const result = await originalModule({ team: mesh, sender: 'lead' }).dispatchHookChainsForEvent({
      configPathOverride: oneRule({ id: 'recover', actions: [spawn, { type: 'notify_team' }] }),
      event: failedTask({ task_id: '1', task_subject: 'Flaky build', error: 'CI timeout' }),
      runtime: { onSpawnFallbackAgent, onNotifyTeam },
    })
    expect(result).toMatchObject({
      enabled: true,
      matchedRuleIds: ['recover'],
      actionResults: [{ status: 'executed' }, { status: 'executed' }],
    })
    expect(onSpawnFallbackAgent).toHaveBeenCalledTimes(1)
    expect(onNotifyTeam).toHaveBeenCalledTimes(1)
  })

  test('CH-57 the prompt of the fallback tells what failed', async () => {
    const onSpawnFallbackAgent = vi.fn(async (_: unknown) => ({ launched: true }))
    await originalModule().dispatchHookChainsForEvent({
      configPathOverride: oneRule({ actions: [{ ...spawn, description: 'Take over' }] }),
      event: failedTask({
        task_subject: 'Repair the guard',
        task_description: 'Order of checks',
        error: 'No retries left',
      }),
      runtime: { onSpawnFallbackAgent },
    })
    const [request] = onSpawnFallbackAgent.mock.calls[0] ?? []
    expect(request).toMatchObject({ description: 'Take over', runInBackground: true })
    for (const line of [
      'Event: TaskCompleted',
      'Outcome: failed',
      'Task subject: Repair the guard',
      'Failure details: No retries left',
    ])
      expect(request).toMatchObject({ prompt: expect.stringContaining(line) })
  })

  test('CH-63 CH-64 CH-65 mailboxes are written if the team exists, and the action is skipped if not', async () => {
    const configPathOverride = oneRule({ actions: [{ type: 'notify_team' }] })
    const event = failedTask({ task_id: 'team', error: 'boom' })
    const present = originalModule({ team: mesh, sender: 'lead' })
    const sent = await present.dispatchHookChainsForEvent({ configPathOverride, event })
    expect(sent.actionResults).toMatchObject([{ status: 'executed' }])
    expect(present.mailboxes).toEqual(['worker-1', 'worker-2'])
    const missing = originalModule({ team: { ...mesh, isMissing: true }, sender: 'lead' })
    const skipped = await missing.dispatchHookChainsForEvent({ configPathOverride, event })
    expect(skipped.actionResults).toMatchObject([
      { status: 'skipped', reason: expect.stringContaining('Team file not found') },
    ])
    expect(missing.mailboxes).toEqual([])
  })

  test('CH-68 a warm-up without a bridge does nothing', async () => {
    const result = await originalModule().dispatchHookChainsForEvent({
      configPathOverride: oneRule({ actions: [{ type: 'warm_remote_capacity' }] }),
      event: failedTask({ task_id: 'warm' }),
    })
    expect(result.actionResults).toMatchObject([
      { status: 'skipped', reason: expect.stringContaining('Bridge is not active') },
    ])
  })
})
