import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import type { ResolveName } from '../../engine/events/names.ts'
import { caught } from './check-hooks.ts'
import type { Found } from './issues.ts'

/** What the shape of a set of rules cannot say: that its events exist, and that no two rules share an id. */
export function checkRules(set: unknown, resolve: ResolveName): Found[] {
  const rules: unknown = isRecord(set) ? set.rules : undefined
  if (!Array.isArray(rules)) return []
  const seen = new Set<unknown>()
  return rules.flatMap((rule: unknown, index): Found[] => {
    if (!isRecord(rule)) return []
    const path = ['rules', index]
    const event = isRecord(rule.trigger) ? rule.trigger.event : undefined
    const unknown = caught(
      [...path, 'trigger', 'event'],
      () => typeof event === 'string' && event !== '' && resolve(event),
    )
    const twice = seen.has(rule.id)
    if (typeof rule.id === 'string') seen.add(rule.id)
    if (!twice) return unknown
    const error = new HookError('config.duplicate_id', 'an earlier rule already has this id')
    return [...unknown, { path: [...path, 'id'], part: 'value', error }]
  })
}
