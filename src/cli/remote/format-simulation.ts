import { isRecord } from '../../engine/core/schema/check.ts'
import { visibleLine } from '../../engine/core/values/visible-text.ts'

type Fields = Readonly<Record<string, unknown>>

/** What `rules.simulate` answers, for people: the rules that match first, then the first reason why each other does not. */
export function formatSimulation(answer: Fields): string {
  const rules = listOf(answer.rules)
  const matching = rules.filter(({ matches, enabled }) => matches === true && enabled !== false)
  const others = rules.filter((rule) => !matching.includes(rule))
  const off =
    answer.enabled === true ? [] : ['Recovery rules are switched off: set `rules_enabled` to use them.', '']
  return [
    `${String(answer.event)} with the outcome ${String(answer.outcome)}: ${matching.length} of ${rules.length} rules match`,
    ...off,
    ...matching.flatMap(matchingLines),
    ...others.map(otherLine),
  ]
    .map(visibleLine)
    .join('\n')
}

function matchingLines(rule: Fields): string[] {
  const stopped = typeof rule.guard === 'string' ? `  would not fire now: ${rule.guard}` : '  would fire'
  const actions = listOf(rule.actions).map(({ id, would, skipped }) =>
    typeof skipped === 'string'
      ? `  - ${String(id)}: would be skipped: ${skipped} (${String(would)})`
      : `  - ${String(id)}: would ${String(would)}`,
  )
  return [`${nameOf(rule)} matches`, stopped, ...actions]
}

function otherLine(rule: Fields): string {
  const unmet = isRecord(rule.unmet) ? rule.unmet : undefined
  if (unmet === undefined) return `${nameOf(rule)} is switched off`
  const { condition, wanted, actual } = unmet
  return `${nameOf(rule)} does not match: ${String(condition)} wants ${shown(wanted)}, the event has ${shown(actual)}`
}

function nameOf({ id, source }: Fields): string {
  return source === 'stored' ? String(id) : `${String(id)} (${String(source)})`
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
