import { errorText } from '../../engine/core/errors/error.ts'
import { hookTitle } from '../../engine/core/hook-title.ts'
import type { TraceHook } from '../../engine/core/records/trace.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { explainNameMiss } from '../../engine/match/explain-match.ts'
import { compileMatcher } from '../../engine/match/matcher.ts'
import type { HookRow } from '../../stored-hooks/hook-tables.ts'

/**
 * Completes a recorded trace that counts the hooks that did not apply instead of listing them. The reasons come from the
 * hooks as they are stored now; a hook that has changed since the event is marked.
 */
export function explainMisses(trace: unknown, hooks: readonly HookRow[], eventTime: number): unknown {
  if (!isRecord(trace) || typeof trace.misses !== 'number' || !Array.isArray(trace.hooks)) return trace
  const listed = new Set(trace.hooks.flatMap((hook: unknown) => (isRecord(hook) ? [hook.hook] : [])))
  const subject = typeof trace.subject === 'string' ? trace.subject : ''
  const missed = hooks
    .filter(({ id, created_at }) => !listed.has(id) && created_at <= eventTime)
    .map((hook) => explainMiss(hook, subject, eventTime))
  return { ...trace, hooks: [...trace.hooks, ...missed] }
}

function explainMiss(hook: HookRow, subject: string, eventTime: number): TraceHook {
  const since = hook.updated_at > eventTime ? ' (the hook has changed since this event)' : ''
  return {
    hook: hook.id,
    name: hookTitle(hook),
    matched: false,
    because: `${reasonOf(hook, subject)}${since}`,
    executions: [],
  }
}

function reasonOf(hook: HookRow, subject: string): string {
  if (!hook.enabled) return `disabled${hook.disabled_reason ? `: ${hook.disabled_reason}` : ''}`
  try {
    return explainNameMiss(compileMatcher(hook, hook.event), subject)
  } catch (thrown) {
    return `cannot be explained: ${errorText(thrown)}`
  }
}
