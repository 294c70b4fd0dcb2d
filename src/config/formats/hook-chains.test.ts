import { describe, expect, test } from 'vitest'
import { importHookChains } from './hook-chains.ts'
import { imported, refused, yaml } from './imported.fixture.ts'

const warm = { type: 'warm_remote_capacity' }
const rule = { id: 'a', trigger: { event: 'TaskCompleted', outcome: 'failed' }, actions: [warm] }
const rules = (...given: object[]) => ({ rules: given })

const full = {
  version: 1,
  enabled: true,
  maxChainDepth: 2,
  defaultCooldownMs: 45_000,
  defaultDedupWindowMs: 30_000,
  rules: [
    {
      id: 'full-recovery-chain',
      trigger: { event: 'TaskCompleted', outcomes: ['failed', 'timeout'] },
      condition: {
        errorIncludes: ['timeout'],
        toolNames: ['Edit'],
        taskStatuses: ['failed'],
        eventFieldEquals: { 'meta.source': 'scheduler', n: 1, b: true },
      },
      cooldownMs: 90_000,
      actions: [
        {
          type: 'spawn_fallback_agent',
          id: 'fallback-agent',
          description: 'x',
          promptTemplate: 'y',
          agentType: 'general-purpose',
          model: 'sonnet',
        },
        {
          type: 'notify_team',
          id: 'notify-team',
          recipients: ['*'],
          summary: 's',
          messageTemplate: 'm',
          teamName: 't',
        },
        {
          type: 'warm_remote_capacity',
          id: 'warm-capacity',
          createDefaultEnvironmentIfMissing: false,
          enabled: true,
          dedupWindowMs: 60_000,
        },
      ],
    },
  ],
}

describe('a file of recovery rules', () => {
  test('CH-5 CH-9 CH-10 is kept as it is, bare or wrapped', () => {
    expect(imported(importHookChains(full)).rules).toEqual(full)
    expect(imported(importHookChains({ hookChains: full })).rules).toEqual(full)
    expect(imported(importHookChains(full)).notes).toEqual([])
  })

  test('CH-6 keys that nobody knows are left out with a note', () => {
    const { rules: kept, notes } = imported(
      importHookChains({ ...full, later: 1, rules: [{ ...rule, extra: 2 }] }),
    )
    expect(kept).toEqual({ ...full, rules: [rule] })
    expect(notes).toEqual([
      'rules.0.extra is not known and was left out',
      'later is not known and was left out',
    ])
  })

  test('CH-8 4.2 #36 without rules is valid and does nothing', () => {
    const { rules: kept, notes } = imported(importHookChains({ rules: [] }))
    expect(kept).toEqual({ rules: [] })
    expect(notes).toEqual(['there are no rules, so nothing will happen (enabled: false)'])
  })

  test('CH-16 may begin with a byte order mark', () => {
    expect(
      imported(importHookChains(yaml(`\uFEFF${JSON.stringify(full)}`, 'hook-chains.json'))).rules,
    ).toEqual(full)
  })

  test('CH-11 4.2 #34 both outcome and outcomes', () => {
    const both = { ...rule, trigger: { event: 'TaskCompleted', outcome: 'failed', outcomes: ['failed'] } }
    expect(refused(importHookChains(rules(both)))).toMatchObject([
      {
        code: 'config.range',
        message: 'Use either trigger.outcome or trigger.outcomes, not both.',
        pointer: '/rules/0/trigger',
      },
    ])
  })

  test.each([
    ['CH-8', { maxChainDepth: 11 }],
    ['CH-8', { maxChainDepth: 0 }],
    ['CH-8', { defaultCooldownMs: -1 }],
    ['CH-8', { defaultCooldownMs: 86_400_001 }],
    ['CH-8', { defaultDedupWindowMs: 1.5 }],
    ['CH-9', rules({ ...rule, cooldownMs: 86_400_001 })],
    ['CH-9', rules({ ...rule, maxDepth: 11 })],
    ['CH-9', rules({ ...rule, dedupWindowMs: '5s' })],
  ])('%s 4.2 #34 %j is out of range', (_, given) => {
    expect(refused(importHookChains(given))).toMatchObject([{ code: 'config.range' }])
  })

  test.each([
    ['CH-8', { version: 2 }],
    ['CH-9', rules({ ...rule, id: '' })],
    ['CH-9', rules({ ...rule, actions: [] })],
    ['CH-9', rules({ ...rule, trigger: { event: 'TaskCompleted', outcomes: [] } })],
    ['CH-10', rules({ ...rule, trigger: { event: 'TaskCompleted', outcome: 'maybe' } })],
    ['CH-9', rules({ ...rule, actions: [{ type: 'sing' }] })],
    ['CH-7', { hookChains: { rules: [{ id: 'a' }] } }],
  ])('%s %j is refused', (_, given) => {
    expect(refused(importHookChains(given)).map(({ code }) => code)).toContain('config.field')
  })

  test('CH-12 an event must exist, in whatever spelling', () => {
    expect(refused(importHookChains(rules({ ...rule, trigger: { event: 'TaskCompletd' } })))).toMatchObject([
      {
        code: 'input.unknown_event',
        hint: 'did you mean task_completed?',
        pointer: '/rules/0/trigger/event',
      },
    ])
  })

  test('CH-13 one bad rule refuses the whole file', () => {
    expect(importHookChains(rules(rule, { ...rule, id: 'b', actions: [] })).kind).toBe('refused')
    expect(refused(importHookChains(rules(rule, rule)))).toMatchObject([
      { code: 'config.duplicate_id', pointer: '/rules/1/id' },
    ])
  })

  test.each(['null', '0', '""', 'false', '{"rules": [', ''])('CH-14 %j is no file of rules', (text) => {
    expect(importHookChains(yaml(text, 'hook-chains.json')).kind).toBe('refused')
  })
})
