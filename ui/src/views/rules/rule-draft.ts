import type { RecoveryActionType } from '../../../../src/rules/files/rule-schema.ts'
import { GatewayError, type Result } from '../../gateway/call.ts'
import { type Fields, fieldsOf, listOf, updateTo } from '../../parts/form/fields.ts'

export type ListedRule = Result<'rules.list'>['rules'][number]

/** The address of the page of a rule that is not saved yet. */
export const NEW_RULE = '_new'
/** Rules of files have their path here. */
export const STORED = 'stored'

export const newRule: Fields = {
  id: '',
  trigger: { event: 'post_tool_use_failure', outcome: 'failed' },
  cooldownMs: 60_000,
  actions: [{ type: 'notify_team', summary: '$RULE_ID: $ERROR' }],
}

export function draftOf({ id, enabled, definition }: ListedRule): Fields {
  return { id, enabled, ...definition }
}

/** What `rules.update` takes: every field of the draft, and null for each that was removed. */
export function updateOf({ id, version, definition }: ListedRule, draft: Fields): Fields {
  return { ...updateTo(draft, definition ?? {}), id, version: version ?? undefined }
}

export const actionTitles: Readonly<Record<RecoveryActionType, string>> = {
  spawn_fallback_agent: 'Start a fallback agent',
  notify_team: 'Notify a team',
  warm_remote_capacity: 'Start runners',
  retry_run: 'Repeat the run',
  run_command: 'Run a command',
  call_webhook: 'Call a webhook',
}

export function actionTitle(type: unknown): string {
  return Object.entries(actionTitles).find(([known]) => known === type)?.[1] ?? String(type)
}

/** The rule as a sentence: when it fires, and what it does then. */
export function describeRule(definition: Fields): { readonly when: string; readonly does: string } {
  const trigger = fieldsOf(definition.trigger)
  const condition = fieldsOf(definition.condition)
  const outcomes = listOf(trigger.outcomes ?? trigger.outcome)
  const equal = Object.entries(fieldsOf(condition.eventFieldEquals))
  const terms = [
    outcomes.length === 0 ? '' : `ends with ${outcomes.join(' or ')}`,
    ...termsOf('the tool is', condition.toolNames),
    ...termsOf('the task is', condition.taskStatuses),
    ...termsOf('the error contains', condition.errorIncludes),
    ...equal.map(([path, value]) => `${path} is ${JSON.stringify(value)}`),
  ].filter(Boolean)
  const actions = listOf(definition.actions).map((action) => actionTitle(fieldsOf(action).type).toLowerCase())
  return {
    when: `${String(trigger.event ?? 'no event')}${terms.length === 0 ? '' : ` ${terms.join(', ')}`}`,
    does: actions.join(', then ') || 'nothing',
  }
}

function termsOf(words: string, wanted: unknown): string[] {
  const list = listOf(wanted)
  return list.length === 0 ? [] : [`${words} ${list.join(' or ')}`]
}

/** What the gateway objects to, by the path of the field: `actions.0.recipients`. */
export type Problems = ReadonlyMap<string, string>

export const noProblems: Problems = new Map()

export function problemsOf(error: unknown): Problems {
  if (!(error instanceof GatewayError)) return noProblems
  const listed = error.message.split('; ').flatMap((text) => {
    const [, path, problem] = /^([\w.]+): (.+)$/s.exec(text) ?? []
    return path === undefined || problem === undefined ? [] : [[path, problem] as const]
  })
  const at = error.at?.replace(/^rule\./, '')
  return new Map([...(at === undefined ? [] : [[at, error.message] as const]), ...listed])
}

/** The problem of a field, or of a value inside it. */
export function problemAt(problems: Problems, path: string): string | undefined {
  const inside = [...problems.keys()].find((key) => key === path || key.startsWith(`${path}.`))
  return inside === undefined ? undefined : problems.get(inside)
}
