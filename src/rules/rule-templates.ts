import { firstText, type HookChainEvent } from './compile-rules.ts'

/** The event and the rule that fires on it. */
export interface FiringEvent extends HookChainEvent {
  readonly ruleId: string
}

/** The variables of every template. */
function templateVariables({ eventName, outcome, payload = {}, ruleId }: FiringEvent) {
  return {
    EVENT_NAME: eventName,
    OUTCOME: outcome,
    RULE_ID: ruleId,
    TASK_SUBJECT: firstText(payload, ['task_subject', 'taskSubject']) ?? '',
    TASK_DESCRIPTION: firstText(payload, ['task_description', 'taskDescription']) ?? '',
    TASK_ID: firstText(payload, ['task_id', 'taskId']) ?? '',
    ERROR: firstText(payload, ['error', 'reason']) ?? '',
    PAYLOAD_JSON: payloadJson(payload),
  }
}

function payloadJson(payload: unknown): string {
  try {
    return JSON.stringify(payload, undefined, 2) ?? '{}'
  } catch {
    return '[unserializable]'
  }
}

const variable = /\$\{([A-Z0-9_]+)\}|\$([A-Z0-9_]+)/g

/** Fills `${NAME}` and `$NAME`. Unknown names become empty; what a value contains is not filled again. */
export function fillTemplate(template: string, event: FiringEvent): string {
  const variables: Readonly<Record<string, string>> = templateVariables(event)
  return template.replaceAll(variable, (_, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? ''
    return (Object.hasOwn(variables, name) ? variables[name] : undefined) ?? ''
  })
}

/** The prompt of a fallback agent whose action has no template. */
export function defaultFallbackPrompt(event: FiringEvent): string {
  const values = templateVariables(event)
  return [
    'You are a fallback agent. A recovery rule started you because a step of another agent did not end well.',
    ...contextLines(values),
    'Goal: find out what went wrong, finish the work safely, and report briefly what you did.',
    'Failure payload JSON:',
    values.PAYLOAD_JSON,
  ].join('\n')
}

/** The text of a team message whose action has no template. */
export function defaultTeamMessage(event: FiringEvent): string {
  const values = templateVariables(event)
  return [
    'A recovery rule fired.',
    ...contextLines(values),
    'Failure payload JSON:',
    values.PAYLOAD_JSON,
  ].join('\n')
}

function contextLines(values: ReturnType<typeof templateVariables>): string[] {
  const optional = [
    ['Task subject', values.TASK_SUBJECT],
    ['Task description', values.TASK_DESCRIPTION],
    ['Failure details', values.ERROR],
  ] as const
  return [
    `Event: ${values.EVENT_NAME}`,
    `Outcome: ${values.OUTCOME}`,
    `Rule ID: ${values.RULE_ID}`,
    ...optional.flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}`])),
  ]
}

export function defaultFallbackDescription({ eventName, outcome }: HookChainEvent): string {
  return `Fallback recovery: ${eventName} (${outcome})`
}

export function defaultTeamSummary({ ruleId, eventName, outcome }: FiringEvent): string {
  return `Hook chain ${ruleId} triggered (${eventName}/${outcome})`
}
