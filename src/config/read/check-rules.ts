import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import type { ResolveEventName } from '../../engine/events/event-names.ts'
import { catchProblem } from './check-hooks.ts'
import type { ValueProblem } from './value-problem.ts'

/** Checks what the schema of a rule set cannot: that its events exist and that no two rules share an id. */
export function checkRules(set: unknown, resolve: ResolveEventName): ValueProblem[] {
  const rules: unknown = isRecord(set) ? set.rules : undefined
  if (!Array.isArray(rules)) return []
  const ids = new Set<unknown>()
  return rules.flatMap((rule: unknown, index): ValueProblem[] => {
    if (!isRecord(rule)) return []
    const path = ['rules', index]
    const event = isRecord(rule.trigger) ? rule.trigger.event : undefined
    const unknownEvent = catchProblem(
      [...path, 'trigger', 'event'],
      () => typeof event === 'string' && event !== '' && resolve(event),
    )
    const isDuplicate = ids.has(rule.id)
    if (typeof rule.id === 'string') ids.add(rule.id)
    if (!isDuplicate) return unknownEvent
    const error = new HookError('config.duplicate_id', 'an earlier rule already has this id')
    return [...unknownEvent, { path: [...path, 'id'], part: 'value', error }]
  })
}
