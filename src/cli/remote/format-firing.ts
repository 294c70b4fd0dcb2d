import { isRecord } from '../../engine/core/schema/check.ts'
import { isoTime } from '../../engine/core/time/clock.ts'
import { visibleLine } from '../../engine/core/values/visible-text.ts'

type Fields = Readonly<Record<string, unknown>>

/** What `rules.firing` answers, for people: from the failure to the result of each action and each delivery. */
export function formatFiring(answer: Fields): string {
  const firing = isRecord(answer.firing) ? answer.firing : {}
  const { rule_id, source, event, outcome, event_id, run_id, created_at } = firing
  const from = typeof run_id === 'string' ? `run ${run_id}` : `event ${String(event_id)}`
  const place = source === 'stored' ? '' : ` of ${String(source)}`
  return [
    `${String(event)} with the outcome ${String(outcome)}, ${from}`,
    `fired the rule ${String(rule_id)}${place} at ${isoTime(Number(created_at))}`,
    ...listOf(firing.actions).map(actionLine),
    ...listOf(answer.messages).flatMap(messageLines),
  ]
    .map(visibleLine)
    .join('\n')
}

function actionLine({ action_id, status, reason, detail }: Fields): string {
  const why = reason ?? detail
  return `  - ${String(action_id)}: ${String(status)}${typeof why === 'string' ? ` (${why})` : ''}`
}

function messageLines({ team, member, read_at, deliveries }: Fields): string[] {
  const state = read_at === null ? 'unread' : 'read'
  return [
    `  message to ${String(member)} of ${String(team)}: ${state}`,
    ...listOf(deliveries).map(({ type, state: delivery, last_error }) => {
      const problem = typeof last_error === 'string' ? `: ${last_error}` : ''
      return `    ${String(type)}: ${delivery === null ? 'no longer recorded' : String(delivery)}${problem}`
    }),
  ]
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
