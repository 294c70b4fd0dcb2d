import { expect, test } from 'vitest'
import { fileGroup, readRecoveryConfig, readRecoveryRule } from './files/recovery-rules.ts'
import { cooldownKey, firingActions } from './fire-rules.ts'
import { inGroup } from './trigger-rules.ts'

const event = { eventName: 'stop_failure', outcome: 'failed', payload: { error: 'x' } } as const

function matchedRule(source: string, id: string) {
  const rule = readRecoveryRule({
    ...{ id, trigger: { event: 'stop_failure' } },
    actions: [{ type: 'notify_team' }, { type: 'notify_team', id: `${id}|notify_team:0` }],
  })
  return inGroup(fileGroup(source, readRecoveryConfig({ rules: [rule] })), rule)
}

test('rules whose sources and ids look alike when joined do not share a window', () => {
  const rules = [
    ...[matchedRule('/a', 'b|c'), matchedRule('/a|b', 'c'), matchedRule('/a|b|c', 'c')],
    // The same letter in two normal forms.
    ...[matchedRule('/a', '\u00e9'), matchedRule('/a', 'e\u0301'), matchedRule('/a', 'e')],
    ...[matchedRule('/a', 'x\0y'), matchedRule('/a\0x', 'y'), matchedRule('/a","x', 'y')],
    ...[matchedRule('/a', 'l'.repeat(1_000)), matchedRule('/a', 'l'.repeat(1_001))],
  ]
  const cooldowns = rules.map(cooldownKey)
  expect(new Set(cooldowns).size).toBe(rules.length)
  const dedups = rules.flatMap((rule) => firingActions(rule, event).map(({ dedup }) => dedup.key))
  expect(new Set(dedups).size).toBe(2 * rules.length)
})
