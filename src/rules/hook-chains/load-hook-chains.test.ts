import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { hookChainEvents } from '../files/rule-schema.ts'
import { createHookChains } from './dispatch-hook-chains.ts'

const folder = mkdtempSync(join(tmpdir(), 'hook-chains-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
function fileWith(content: unknown): string {
  const path = join(folder, `${files++}.json`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const on = { CLAUDE_CODE_ENABLE_HOOK_CHAINS: '1' }

function chainsWith(env: Record<string, string | undefined> = on, cwd = folder) {
  const logged: unknown[] = []
  const clock = fakeClock()
  const chains = createHookChains({
    env: () => env,
    originalCwd: () => cwd,
    clock,
    log: (_, { text }) => logged.push(text),
  })
  return {
    ...chains,
    clock,
    logged,
    load: (content: unknown) => chains.loadHookChainsConfig({ pathOverride: fileWith(content) }),
  }
}

const rule = {
  id: 'r',
  trigger: { event: 'TaskCompleted', outcome: 'failed' },
  actions: [{ type: 'spawn_fallback_agent' }],
}
const withRule = (fields: object, config: object = {}) => ({ ...config, rules: [{ ...rule, ...fields }] })

describe('the switch', () => {
  test.each(['1', 'true', 'yes', 'on', ' On ', 'TRUE', 'Yes'])('CH-2 %j switches hook chains on', (value) => {
    expect(chainsWith({ CLAUDE_CODE_ENABLE_HOOK_CHAINS: value }).load({ rules: [rule] })).toMatchObject({
      exists: true,
      config: { enabled: true },
    })
  })

  test.each([undefined, '', '0', '2', 'off', 'enabled'])(
    'CH-2 CH-3 with %j the file is not even looked at',
    (value) => {
      const chains = chainsWith({ CLAUDE_CODE_ENABLE_HOOK_CHAINS: value })
      const path = fileWith({ rules: [rule] })
      expect(chains.loadHookChainsConfig({ pathOverride: path })).toEqual({
        config: {
          version: 1,
          enabled: false,
          maxChainDepth: 2,
          defaultCooldownMs: 30_000,
          defaultDedupWindowMs: 30_000,
          rules: [],
        },
        path,
        exists: false,
        fromCache: false,
      })
      expect(chains.loadHookChainsConfig({ pathOverride: '/proc/self/mem/none' })).toMatchObject({
        exists: false,
      })
      expect(chains.logged).toEqual([])
    },
  )
})

test('CH-4 the path is the override, else the variable, else the default file, below the original directory', () => {
  const at = (env: object, pathOverride?: string, cwd?: string) =>
    chainsWith({ ...on, ...env }, cwd).loadHookChainsConfig(
      pathOverride === undefined ? {} : { pathOverride },
    ).path
  const variable = { CLAUDE_CODE_HOOK_CHAINS_CONFIG_PATH: 'v.json' }
  expect(at({})).toBe(join(folder, '.openclaude/hook-chains.json'))
  expect(at(variable)).toBe(join(folder, 'v.json'))
  expect(at({ CLAUDE_CODE_HOOK_CHAINS_CONFIG_PATH: '/abs.json' })).toBe('/abs.json')
  expect(at(variable, 'given.json')).toBe(join(folder, 'given.json'))
  const failing = createHookChains({
    env: () => on,
    originalCwd: () => {
      throw new Error('no directory')
    },
  })
  expect(failing.loadHookChainsConfig().path).toBe(join(process.cwd(), '.openclaude/hook-chains.json'))
})

test('CH-5 the config is the object itself or stands under hookChains', () => {
  const config = { rules: [rule], maxChainDepth: 5 }
  const flat = chainsWith().load(config).config
  expect(flat.rules).toMatchObject([rule])
  expect(chainsWith().load({ hookChains: config }).config).toEqual(flat)
})

test('CH-6 unknown keys are ignored everywhere', () => {
  const { config, error } = chainsWith().load({
    extra: 1,
    ...withRule({
      extra: 1,
      trigger: { ...rule.trigger, extra: 1 },
      condition: { extra: 1 },
      actions: [{ ...rule.actions[0], extra: 1 }],
    }),
  })
  expect(error).toBeUndefined()
  expect(JSON.stringify(config)).not.toContain('extra')
})

test('CH-7 a wrapped config that is invalid is an error, not a config without rules', () => {
  const loaded = chainsWith().load({ hookChains: withRule({ id: '' }) })
  expect(loaded).toMatchObject({ exists: true, config: { enabled: false, rules: [] } })
  expect(loaded.error).toBeTruthy()
})

describe('the schema', () => {
  test('CH-8 an empty object has all defaults', () => {
    expect(chainsWith().load({}).config).toEqual({
      version: 1,
      enabled: true,
      maxChainDepth: 2,
      defaultCooldownMs: 30_000,
      defaultDedupWindowMs: 30_000,
      rules: [],
    })
  })

  const good = [
    ...[
      { version: 1 },
      { enabled: false },
      { maxChainDepth: 1 },
      { maxChainDepth: 10 },
      { defaultCooldownMs: 0 },
    ],
    ...[{ defaultDedupWindowMs: 86_400_000 }, { rules: [] }],
  ]
  test.each(good)('CH-8 %j is accepted', (config) => {
    expect(chainsWith().load(config)).toMatchObject({ config })
    expect(chainsWith().load(config).error).toBeUndefined()
  })

  const bad = [
    ...[
      { version: 2 },
      { enabled: 'yes' },
      { maxChainDepth: 0 },
      { maxChainDepth: 11 },
      { maxChainDepth: 1.5 },
    ],
    ...[
      { defaultCooldownMs: -1 },
      { defaultCooldownMs: 86_400_001 },
      { defaultDedupWindowMs: '1' },
      { rules: {} },
    ],
  ]
  test.each(bad)('CH-8 %j is refused', (config) => {
    expect(chainsWith().load(config)).toMatchObject({ error: expect.any(String), config: { enabled: false } })
  })

  const badRules = [
    ...[{ id: '' }, { id: 7 }, { trigger: { event: 'NoEvent' } }, { trigger: { event: 'taskcompleted' } }],
    ...[
      { trigger: { event: 'TaskCompleted', outcomes: [] } },
      { cooldownMs: 86_400_001 },
      { dedupWindowMs: -1 },
    ],
    ...[
      { maxDepth: 11 },
      { maxDepth: -1 },
      { maxDepth: 0.5 },
      { actions: [] },
      { actions: [{ type: 'explode' }] },
    ],
    ...[{ actions: [{ type: 'retry_run' }] }, { enabled: 1 }],
  ]
  test.each(badRules)('CH-9 a rule with %j is refused', (fields) => {
    expect(chainsWith().load(withRule(fields)).error).toBeTruthy()
  })

  test('CH-9 a rule is switched on by default, and its windows and depth may be 0', () => {
    const fields = { cooldownMs: 0, dedupWindowMs: 86_400_000, maxDepth: 0 }
    expect(chainsWith().load(withRule(fields)).config.rules).toMatchObject([{ enabled: true, ...fields }])
  })

  test.each(['success', 'failed', 'timeout', 'unknown'])('CH-10 %s is an outcome', (outcome) => {
    const { config } = chainsWith().load(withRule({ trigger: { event: 'Stop', outcomes: [outcome] } }))
    expect(config.rules[0]?.trigger).toEqual({ event: 'Stop', outcomes: [outcome] })
    expect(chainsWith().load(withRule({ trigger: { event: 'Stop', outcome: 'good' } })).error).toBeTruthy()
  })

  test('CH-11 outcome and outcomes together make the file invalid', () => {
    const trigger = { event: 'TaskCompleted', outcome: 'failed', outcomes: ['failed'] }
    expect(chainsWith().load(withRule({ trigger }))).toMatchObject({
      exists: true,
      error: 'Use either trigger.outcome or trigger.outcomes, not both.',
      config: { enabled: false, rules: [] },
    })
  })

  test('CH-12 a file may name the 27 events, and each is accepted', () => {
    expect(new Set(hookChainEvents).size).toBe(27)
    const rules = hookChainEvents.map((event) => ({ ...rule, id: event, trigger: { event } }))
    expect(chainsWith().load({ rules }).config.rules).toHaveLength(27)
  })

  test('CH-13 one invalid rule switches the whole file off, and every problem is named', () => {
    const rules = [rule, { ...rule, id: '', actions: [] }]
    const loaded = chainsWith().load({ rules })
    expect(loaded).toMatchObject({ exists: true, config: { enabled: false, rules: [] } })
    expect(loaded.error?.split('; ')).toHaveLength(2)
  })
})

describe('files that cannot be used', () => {
  test.each(['{"rules": [', '', 'null', '0', '""', 'false'])('CH-14 %j is invalid JSON', (content) => {
    expect(chainsWith().load(content)).toMatchObject({
      exists: true,
      error: 'Invalid JSON in hook chain config file.',
      config: { enabled: false, rules: [] },
    })
  })

  test('CH-15 a file that is there and cannot be read is an error; one that cannot be examined is only logged', () => {
    const chains = chainsWith()
    const path = join(folder, 'a-folder')
    mkdirSync(path)
    const unread = chains.loadHookChainsConfig({ pathOverride: path })
    expect(unread).toMatchObject({ exists: true, config: { enabled: false } })
    expect(unread.error).toMatch(/^Failed to read hook chain config file: /)
    const missing = chains.loadHookChainsConfig({ pathOverride: join(folder, 'none.json') })
    expect(missing).toMatchObject({ exists: false })
    expect(missing.error).toBeUndefined()
    expect(chains.logged).toEqual([])
    const below = chains.loadHookChainsConfig({ pathOverride: join(fileWith({}), 'below.json') })
    expect(below).toMatchObject({ exists: false })
    expect(below.error).toBeUndefined()
    expect(chains.logged).toEqual([
      expect.stringMatching(/^\[hook-chains\] Failed to stat config at .*below\.json/),
    ])
  })

  test('CH-16 a byte order mark is ignored', () => {
    expect(chainsWith().load(`\uFEFF${JSON.stringify({ rules: [rule] })}`).config.rules).toHaveLength(1)
  })
})

describe('the cache', () => {
  function cachedFile() {
    const chains = chainsWith()
    const pathOverride = fileWith({ rules: [rule] })
    const load = (options = {}) => chains.loadHookChainsConfig({ pathOverride, ...options })
    expect(load().fromCache).toBe(false)
    return { chains, pathOverride, load }
  }

  test('CH-17 CH-20 a file is read once while its time and size stay the same', () => {
    const { pathOverride, load } = cachedFile()
    const second = load()
    expect(Object.keys(second).toSorted()).toEqual(['config', 'exists', 'fromCache', 'path'])
    expect(second).toMatchObject({ fromCache: true, exists: true, path: pathOverride })
    const { atime, mtime } = statSync(pathOverride)
    writeFileSync(pathOverride, JSON.stringify({ rules: [rule, rule] }))
    utimesSync(pathOverride, atime, mtime)
    expect(load()).toMatchObject({ fromCache: false, config: { rules: [{}, {}] } })
    utimesSync(pathOverride, atime, new Date(mtime.getTime() + 5_000))
    expect(load().fromCache).toBe(false)
  })

  test('CH-17 after five minutes the file is read again', () => {
    const { chains, load } = cachedFile()
    chains.clock.stall(300_000)
    expect(load().fromCache).toBe(true)
    chains.clock.stall(1)
    expect(load().fromCache).toBe(false)
  })

  test('CH-17 only the last path is kept', () => {
    const { chains, load } = cachedFile()
    chains.load({})
    expect(load().fromCache).toBe(false)
  })

  test('CH-17 forceReload reads the file again', () => {
    const { load } = cachedFile()
    expect(load({ forceReload: true }).fromCache).toBe(false)
    expect(load().fromCache).toBe(true)
  })

  test('CH-18 callers get copies that they may change', () => {
    const { load } = cachedFile()
    Object.assign(load().config, { rules: [] })
    const { config } = load()
    expect(config.rules).toHaveLength(1)
    Object.assign(config, { enabled: false })
    expect(load().config.enabled).toBe(true)
  })

  test('CH-18 a file with an error is read each time', () => {
    const chains = chainsWith()
    const pathOverride = fileWith('{')
    for (let time = 0; time < 2; time++)
      expect(chains.loadHookChainsConfig({ pathOverride })).toMatchObject({
        fromCache: false,
        error: expect.any(String),
      })
  })

  test('CH-19 a file that is gone is forgotten, also when it comes back unchanged', () => {
    const { pathOverride, load } = cachedFile()
    const { atime, mtime } = statSync(pathOverride)
    rmSync(pathOverride)
    expect(load()).toMatchObject({ exists: false, config: { enabled: false } })
    writeFileSync(pathOverride, JSON.stringify({ rules: [rule] }))
    utimesSync(pathOverride, atime, mtime)
    expect(load().fromCache).toBe(false)
  })

  test('CH-21 forceReloadConfig makes a dispatch read the file again', async () => {
    const { chains, pathOverride } = cachedFile()
    const dispatch = (forceReloadConfig: boolean) =>
      chains.dispatchHookChainsForEvent({
        configPathOverride: pathOverride,
        forceReloadConfig,
        event: { eventName: 'Stop', outcome: 'success' },
      })
    expect((await dispatch(false)).fromCache).toBe(true)
    expect((await dispatch(true)).fromCache).toBe(false)
  })

  test('CH-53 a reset forgets the cached file', () => {
    const { chains, load } = cachedFile()
    chains.resetHookChainsRuntimeStateForTests()
    expect(load().fromCache).toBe(false)
  })
})

// Root may read every file, so a mode proves nothing there.
test.skipIf(process.getuid?.() === 0)('CH-15 a file without permission to read is an error', () => {
  const path = fileWith({})
  chmodSync(path, 0)
  expect(chainsWith().loadHookChainsConfig({ pathOverride: path }).error).toMatch(/^Failed to read/)
})
