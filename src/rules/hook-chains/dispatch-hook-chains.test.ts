import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import type { HookChainEvent } from '../compile-rules.ts'
import { createRuleGuards, dedupKey, hookChainsJson } from '../rule-guards.ts'
import { createHookChains, reasonCategory } from './dispatch-hook-chains.ts'
import type { HookChainsRuntime, LaunchFallbackRequest } from './hook-chains-runtime.ts'

const folder = mkdtempSync(join(tmpdir(), 'hook-chains-dispatch-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

const failure: HookChainEvent = {
  eventName: 'TaskCompleted',
  outcome: 'failed',
  payload: { task_id: '1', error: 'boom' },
}
const noWindows = { defaultCooldownMs: 0, defaultDedupWindowMs: 0 }

function rule(id: string, fields: object = {}) {
  return {
    id,
    trigger: { event: 'TaskCompleted' },
    actions: [{ type: 'spawn_fallback_agent', id: `${id}-a` }],
    ...fields,
  }
}

/** Hook chains over one config, with a launcher that records its requests. */
function chains(config: object) {
  const path = join(folder, `${files++}.json`)
  writeFileSync(path, JSON.stringify(config))
  const clock = fakeClock()
  const made = createHookChains({ env: () => ({ CLAUDE_CODE_ENABLE_HOOK_CHAINS: '1' }), clock })
  const launched: LaunchFallbackRequest[] = []
  const runtime: HookChainsRuntime = {
    launchFallbackAgent: async (request) => {
      launched.push(request)
      return { launched: true, agentId: `agent-${launched.length}` }
    },
  }
  const dispatch = (more: HookChainsRuntime = {}, event = failure) =>
    made.dispatchHookChainsForEvent({ configPathOverride: path, event, runtime: { ...runtime, ...more } })
  return { ...made, path, clock, launched, dispatch }
}

describe('what is asked before the rules', () => {
  test.each([
    { enabled: false, rules: [rule('r')] },
    { enabled: true, rules: [] },
  ])('CH-31 a config that is off or empty dispatches nothing: %j', async (config) => {
    const { dispatch, path } = chains(config)
    expect(await dispatch()).toEqual({
      enabled: false,
      configPath: path,
      fromCache: false,
      evaluatedRuleCount: 0,
      matchedRuleIds: [],
      actionResults: [],
    })
  })

  test('CH-32 at the maximal depth no rule is evaluated, and the reason is named', async () => {
    const { dispatch, launched } = chains({ maxChainDepth: 2, rules: [rule('r')] })
    expect(await dispatch({ chainDepth: 2 })).toMatchObject({
      enabled: true,
      evaluatedRuleCount: 0,
      matchedRuleIds: [],
      actionResults: [],
      skipReason: 'max chain depth reached (2/2)',
    })
    expect(await dispatch({ chainDepth: 1 })).toMatchObject({ matchedRuleIds: ['r'] })
    expect(launched).toHaveLength(1)
  })
})

describe('CH-30 the order of guards:', () => {
  test('depth comes before the cooldown, which comes before dedup', async () => {
    const { dispatch } = chains({
      ...noWindows,
      rules: [rule('r', { maxDepth: 1, cooldownMs: 1_000, dedupWindowMs: 5_000 })],
    })
    const reasonAt = async (chainDepth: number) => (await dispatch({ chainDepth })).actionResults[0]?.reason
    expect(await reasonAt(0)).toBeUndefined()
    expect(await reasonAt(1)).toContain('maxDepth')
    expect(await reasonAt(0)).toContain('cooldown')
  })

  test('an aborted signal comes before the depth of a rule', async () => {
    const { dispatch } = chains({ rules: [rule('r', { maxDepth: 0 })] })
    expect(await dispatch({ signal: AbortSignal.abort() })).toMatchObject({
      matchedRuleIds: ['r'],
      actionResults: [],
    })
  })

  test('a rule is evaluated before an earlier one runs, and the time is taken once', async () => {
    const { dispatch, clock } = chains({
      rules: [rule('slow', { cooldownMs: 100 }), rule('later', { cooldownMs: 100 })],
    })
    const slow = {
      launchFallbackAgent: async () => {
        clock.stall(1_000)
        return { launched: true }
      },
    }
    expect((await dispatch(slow)).actionResults.map(({ status }) => status)).toEqual(['executed', 'executed'])
    // Both windows began when the dispatch began, so they are long over.
    expect((await dispatch()).actionResults[0]?.reason).toMatch(/dedup/)
  })
})

test('CH-33 the depth of a rule skips its actions, and does not begin its cooldown', async () => {
  const { dispatch, launched } = chains({ rules: [rule('r', { maxDepth: 0 })] })
  expect(await dispatch()).toMatchObject({
    matchedRuleIds: ['r'],
    actionResults: [{ status: 'skipped', reason: 'rule maxDepth reached (0/0)' }],
  })
  expect(launched).toEqual([])
  const deep = chains({ ...noWindows, rules: [rule('r', { maxDepth: 1, cooldownMs: 60_000 })] })
  await deep.dispatch({ chainDepth: 1 })
  expect((await deep.dispatch()).actionResults).toMatchObject([{ status: 'executed' }])
})

describe('cooldown', () => {
  test('CH-35 skips every action of the rule, with the time that is left', async () => {
    const actions = [{ type: 'spawn_fallback_agent' }, { type: 'notify_team' }]
    const { dispatch, clock } = chains({ rules: [rule('r', { actions, cooldownMs: 60_000 })] })
    await dispatch()
    clock.stall(20_000)
    const reason = 'rule cooldown active for 40000ms'
    expect((await dispatch()).actionResults).toMatchObject([
      { status: 'skipped', reason },
      { status: 'skipped', reason },
    ])
    clock.stall(40_000)
    expect((await dispatch({}, { ...failure, payload: {} })).actionResults[0]).toMatchObject({
      status: 'executed',
    })
  })

  test('CH-34 belongs to the bare id: other scopes and rules with the same id share it', async () => {
    const { dispatch } = chains({ defaultDedupWindowMs: 0, rules: [rule('same'), rule('same')] })
    const { actionResults } = await dispatch({ dedupScope: 'a' })
    expect(actionResults.map(({ status }) => status)).toEqual(['executed', 'skipped'])
    expect((await dispatch({ dedupScope: 'b' })).actionResults[0]?.reason).toContain('cooldown')
  })

  test('CH-36 begins before the actions run, and stays when all of them fail', async () => {
    const { dispatch } = chains({ defaultDedupWindowMs: 0, rules: [rule('r')] })
    let inside: unknown
    const nested: HookChainsRuntime = {
      launchFallbackAgent: async () => {
        inside = (await dispatch()).actionResults[0]?.reason
        throw new Error('no agents today')
      },
    }
    expect((await dispatch(nested)).actionResults).toMatchObject([{ status: 'failed' }])
    expect(inside).toContain('cooldown')
    expect((await dispatch()).actionResults[0]?.reason).toContain('cooldown')
  })

  test('CH-37 0 never blocks; the value of the rule counts before the default', async () => {
    const { dispatch } = chains({
      defaultCooldownMs: 60_000,
      defaultDedupWindowMs: 0,
      rules: [rule('r', { cooldownMs: 0 })],
    })
    await dispatch()
    expect((await dispatch()).actionResults).toMatchObject([{ status: 'executed' }])
    const usual = chains({ defaultCooldownMs: 7_000, defaultDedupWindowMs: 0, rules: [rule('r')] })
    await usual.dispatch()
    expect((await usual.dispatch()).actionResults[0]?.reason).toBe('rule cooldown active for 7000ms')
  })
})

describe('dedup', () => {
  const windows = { defaultCooldownMs: 0, defaultDedupWindowMs: 9_000 }

  test('CH-38 CH-43 the window of the action counts, else of the rule, else the default; 0 is none', async () => {
    const left = async (action: object, fields: object) => {
      const actions = [{ type: 'spawn_fallback_agent', ...action }]
      const { dispatch } = chains({ ...windows, rules: [rule('r', { actions, ...fields })] })
      await dispatch()
      return (await dispatch()).actionResults[0]?.reason
    }
    expect(await left({ dedupWindowMs: 1_000 }, { dedupWindowMs: 2_000 })).toBe(
      'dedup window active for 1000ms',
    )
    expect(await left({}, { dedupWindowMs: 2_000 })).toBe('dedup window active for 2000ms')
    expect(await left({}, {})).toBe('dedup window active for 9000ms')
    expect(await left({ dedupWindowMs: 0 }, {})).toBeUndefined()
  })

  test('CH-39 the key is made of rule, action, event and scope; an action without an id has its type and position', async () => {
    const subject = { ruleId: 'r', actionId: 'a', event: failure, scope: '' }
    const keys = [
      subject,
      { ...subject, ruleId: 'other' },
      { ...subject, actionId: 'other' },
      { ...subject, scope: 'other' },
      { ...subject, event: { ...failure, outcome: 'timeout' as const } },
    ].map(dedupKey)
    expect(new Set(keys).size).toBe(5)
    expect(keys[0]).toMatch(/^[0-9a-f]{40}$/)
    expect(dedupKey({ ruleId: 'r', actionId: 'a', event: failure })).toBe(keys[0])
    const twice = [{ type: 'spawn_fallback_agent' }, { type: 'spawn_fallback_agent' }]
    const { dispatch } = chains({ ...windows, rules: [rule('r', { actions: twice })] })
    expect((await dispatch()).actionResults.map(({ status }) => status)).toEqual(['executed', 'executed'])
    expect((await dispatch({ dedupScope: 's' })).actionResults.map(({ status }) => status)).toEqual([
      'executed',
      'executed',
    ])
    expect((await dispatch()).actionResults.map(({ status }) => status)).toEqual(['skipped', 'skipped'])
  })

  test('CH-40 the whole payload takes part, and the order of its keys does not', () => {
    const keyOf = (payload: Record<string, unknown>) =>
      dedupKey({ ruleId: 'r', actionId: 'a', event: { ...failure, payload } })
    expect(keyOf({ a: 1, b: { c: 2, d: 3 } })).toBe(keyOf({ b: { d: 3, c: 2 }, a: 1 }))
    expect(keyOf({ a: 1, noise: 1 })).not.toBe(keyOf({ a: 1, noise: 2 }))
  })

  test('CH-41 the hashed JSON has sorted keys, and marks objects that it has met', () => {
    const shared = { x: 1 }
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(hookChainsJson({ b: shared, a: shared })).toBe('{"a":{"x":1},"b":"[Circular]"}')
    expect(hookChainsJson(cycle)).toBe('{"self":"[Circular]"}')
    expect(hookChainsJson({ n: 1n, s: Symbol('s') })).toBe('{"n":"1","s":"Symbol(s)"}')
    expect(hookChainsJson({ f: Math.max })).toContain('function max')
    const broken = {
      get field() {
        throw new Error('unreadable')
      },
    }
    expect(hookChainsJson(broken)).toBe('[unserializable]')
  })

  test('CH-42 begins before the action, also for one that is disabled or fails', async () => {
    const actions = [
      { type: 'spawn_fallback_agent', enabled: false },
      { type: 'spawn_fallback_agent', id: 'b' },
    ]
    const { dispatch } = chains({ ...windows, rules: [rule('r', { actions })] })
    let inside: unknown
    const nested: HookChainsRuntime = {
      launchFallbackAgent: async () => {
        inside = (await dispatch()).actionResults[1]?.reason
        return { launched: false }
      },
    }
    expect((await dispatch(nested)).actionResults.map(({ status }) => status)).toEqual(['skipped', 'failed'])
    expect(inside).toContain('dedup')
    const again = await dispatch()
    expect(again.actionResults.map(({ reason }) => reason?.slice(0, 12))).toEqual([
      'dedup window',
      'dedup window',
    ])
  })
})

describe('CH-44 windows', () => {
  test('that are over are forgotten with the next dispatch', async () => {
    const { dispatch, clock, countWindows } = chains({ rules: [rule('r')] })
    await dispatch()
    expect(countWindows()).toEqual({ cooldowns: 1, dedup: 1 })
    clock.stall(30_000)
    await dispatch({}, { eventName: 'Stop', outcome: 'success' })
    expect(countWindows()).toEqual({ cooldowns: 0, dedup: 0 })
  })

  test('are at most 20000 for dedup and 5000 for cooldowns; the soonest to end goes first', () => {
    const guards = createRuleGuards()
    for (let n = 0; n < 25_000; n++) {
      guards.dedup.arm(`d${n}`, 1_000 + n)
      if (n < 6_000) guards.cooldown.arm(`c${n}`, 1_000 + n)
    }
    guards.prune(0)
    expect([guards.dedup.size, guards.cooldown.size]).toEqual([20_000, 5_000])
    expect([guards.dedup.left('d4999', 0), guards.dedup.left('d5000', 0)]).toEqual([0, 6_000])
    expect([guards.cooldown.left('c999', 0), guards.cooldown.left('c1000', 0)]).toEqual([0, 2_000])
    guards.prune(10_000)
    expect(guards.dedup.size).toBe(16_000 - 1)
  })
})

test('CH-45 an abort between rules ends the dispatch, and between actions skips the others of the rule', async () => {
  const stop = new AbortController()
  const actions = [
    { type: 'spawn_fallback_agent', id: '1' },
    { type: 'spawn_fallback_agent', id: '2' },
  ]
  const { dispatch } = chains({ ...noWindows, rules: [rule('first', { actions }), rule('second')] })
  const result = await dispatch({
    signal: stop.signal,
    launchFallbackAgent: async () => {
      stop.abort()
      return { launched: true }
    },
  })
  expect(result).toMatchObject({
    matchedRuleIds: ['first', 'second'],
    actionResults: [
      { actionId: '1', status: 'executed' },
      { actionId: '2', status: 'skipped', reason: 'aborted' },
    ],
  })
})

test('CH-46 actions run one after the other, and a failed one does not stop the next', async () => {
  const actions = ['a', 'b', 'c'].map((id) => ({ type: 'spawn_fallback_agent', id, description: id }))
  const { dispatch } = chains({ ...noWindows, rules: [rule('r', { actions })] })
  const order: string[] = []
  const result = await dispatch({
    async launchFallbackAgent({ description }) {
      order.push(`begin ${description}`)
      await new Promise((resolve) => setImmediate(resolve))
      order.push(`end ${description}`)
      if (description === 'b') throw new Error('b broke')
      return { launched: true }
    },
  })
  expect(order).toEqual(['begin a', 'end a', 'begin b', 'end b', 'begin c', 'end c'])
  expect(result.actionResults.map(({ status }) => status)).toEqual(['executed', 'failed', 'executed'])
})

test('CH-47 a disabled action is skipped after it used up its windows', async () => {
  const actions = [{ type: 'spawn_fallback_agent', enabled: false }]
  const { dispatch, launched, countWindows } = chains({ rules: [rule('r', { actions })] })
  expect((await dispatch()).actionResults).toMatchObject([{ status: 'skipped', reason: 'action disabled' }])
  expect(launched).toEqual([])
  expect(countWindows()).toEqual({ cooldowns: 1, dedup: 1 })
})

test('CH-48 CH-49 the result counts every rule of the config and names each action', async () => {
  const rules = [
    rule('r', { actions: [{ type: 'spawn_fallback_agent' }] }),
    rule('other', { trigger: { event: 'Stop' } }),
  ]
  const { dispatch, path } = chains({ rules })
  expect(await dispatch()).toEqual({
    enabled: true,
    configPath: path,
    fromCache: false,
    evaluatedRuleCount: 2,
    matchedRuleIds: ['r'],
    actionResults: [
      {
        ruleId: 'r',
        actionType: 'spawn_fallback_agent',
        status: 'executed',
        detail: 'Fallback agent launched: agent-1',
      },
    ],
  })
  const named = chains({ rules: [rule('r')] })
  expect(
    (await named.dispatch({ launchFallbackAgent: async () => ({ launched: false, reason: 'full' }) }))
      .actionResults,
  ).toEqual([
    { ruleId: 'r', actionType: 'spawn_fallback_agent', actionId: 'r-a', status: 'failed', reason: 'full' },
  ])
})

describe('telemetry', () => {
  async function recorded(config: object, more: HookChainsRuntime = {}) {
    const seen: { to: string; name: string; fields: Readonly<Record<string, unknown>> }[] = []
    const into = (to: string) => (name: string, fields: Readonly<Record<string, unknown>>) =>
      seen.push({ to, name, fields })
    const telemetry = { analytics: into('analytics'), otel: into('otel'), diagnostics: into('diagnostics') }
    await chains(config).dispatch({ telemetry, chainDepth: 1, ...more })
    return seen
  }

  test('CH-50 CH-52 names the rule, each action and the dispatch; only otel gets texts', async () => {
    const actions = [
      { type: 'spawn_fallback_agent', id: 'go' },
      { type: 'spawn_fallback_agent', id: 'off', enabled: false },
      { type: 'warm_remote_capacity', id: 'warm' },
    ]
    const broken = { warmRemoteCapacity: () => Promise.reject(new Error('no pool')) }
    const seen = await recorded({ rules: [rule('r', { actions })] }, broken)
    const about = { rule_id: 'r', hook_event_name: 'TaskCompleted', outcome: 'failed' }
    const toAnalytics = seen.filter(({ to }) => to === 'analytics')
    expect(toAnalytics.map(({ name }) => name)).toEqual([
      'chain_rule_matched',
      'chain_action_executed',
      'chain_action_skipped',
      'chain_action_failed',
    ])
    expect(toAnalytics[0]?.fields).toEqual({ ...about, chain_depth: 1 })
    expect(toAnalytics[2]?.fields).toEqual({
      ...about,
      action_type: 'spawn_fallback_agent',
      action_id: 'off',
      reason_category: 'disabled',
    })
    expect(JSON.stringify(toAnalytics)).not.toContain('no pool')
    expect(seen.filter(({ to }) => to === 'otel').at(-1)?.fields).toMatchObject({
      reason: 'Remote warm-up failed: no pool',
    })
    expect(seen.filter(({ to }) => to === 'diagnostics')).toEqual([
      {
        to: 'diagnostics',
        name: 'hook_chains_dispatch',
        fields: { event_name: 'TaskCompleted', outcome: 'failed', matched_rules: 1, action_results: 3 },
      },
    ])
  })

  test('CH-52 a dispatch that the depth stops leaves no record', async () => {
    expect(await recorded({ maxChainDepth: 1, rules: [rule('r')] })).toEqual([])
  })

  test.each([
    ['aborted', 'aborted'],
    ['rule cooldown active for 5ms', 'cooldown'],
    ['dedup window active for 5ms', 'dedup'],
    ['Remote sessions are blocked by policy', 'policy'],
    ['No team context is available for notify_team action', 'context_missing'],
    ['Remote warm-up preconditions failed: x', 'precondition'],
    ['action disabled', 'disabled'],
    ['anything else', 'other'],
  ])('CH-51 the category of %j is %s', (reason, category) => {
    expect(reasonCategory(reason)).toBe(category)
  })
})

test('CH-53 a reset forgets every window', async () => {
  const { dispatch, countWindows, resetHookChainsRuntimeStateForTests } = chains({ rules: [rule('r')] })
  await dispatch()
  resetHookChainsRuntimeStateForTests()
  expect(countWindows()).toEqual({ cooldowns: 0, dedup: 0 })
  expect((await dispatch()).actionResults).toMatchObject([{ status: 'executed' }])
})

test('10000 failures fire once per cooldown, and the windows do not grow', async () => {
  const { dispatch, clock, launched, countWindows } = chains({ rules: [rule('r', { cooldownMs: 30_000 })] })
  for (let n = 0; n < 10_000; n++) {
    await dispatch({}, { ...failure, payload: { n } })
    clock.stall(6)
  }
  expect(launched).toHaveLength(2)
  expect(countWindows()).toEqual({ cooldowns: 1, dedup: expect.toSatisfy((size: number) => size <= 2) })
})
