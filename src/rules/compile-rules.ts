import type { Outcome } from '../engine/core/hook.ts'
import type { RuleCondition, TriggeredRule } from './files/rule-schema.ts'

export type RulePayload = Readonly<Record<string, unknown>>

/** An event as rules see it. */
export interface HookChainEvent {
  readonly eventName: string
  readonly outcome: Outcome
  readonly payload?: RulePayload
}

/** The first condition of a rule that an event does not meet. */
export interface UnmetCondition {
  /** The field of the rule, for example `condition.toolNames`. */
  readonly condition: string
  readonly wanted: unknown
  readonly actual: unknown
}

/** Rules in the order of their file. Only rules that listen to an event and its tool are looked at when it occurs. */
export interface RuleSet<Rule> {
  readonly rules: readonly Rule[]
  /** Whether a rule that is switched on listens to the event. */
  listens(eventName: string): boolean
  matching(event: HookChainEvent): readonly Rule[]
}

export function compileRules<Rule extends TriggeredRule>(rules: readonly Rule[]): RuleSet<Rule> {
  const enabled = rules.filter((rule) => rule.enabled !== false)
  const byEvent = new Map<string, ListeningRules<Rule>>()
  for (const [event, listening] of Map.groupBy(enabled, (rule) => rule.trigger.event))
    byEvent.set(event, groupByTool(listening))
  return {
    rules,
    listens: (eventName) => byEvent.has(eventName),
    matching(event) {
      const listening = byEvent.get(event.eventName)
      if (listening === undefined) return []
      return candidatesFor(listening, toolNameOf(event.payload ?? {}))
        .filter(({ rule }) => unmetCondition(rule, event) === undefined)
        .map(({ rule }) => rule)
    },
  }
}

interface PlacedRule<Rule> {
  readonly position: number
  readonly rule: Rule
}

/** The rules of one event: those that name tools, by each tool, and those that apply to any. */
interface ListeningRules<Rule> {
  readonly ofTool: ReadonlyMap<string, readonly PlacedRule<Rule>[]>
  readonly ofAny: readonly PlacedRule<Rule>[]
}

function groupByTool<Rule extends TriggeredRule>(listening: readonly Rule[]): ListeningRules<Rule> {
  const ofTool = new Map<string, PlacedRule<Rule>[]>()
  const ofAny: PlacedRule<Rule>[] = []
  for (const [position, rule] of listening.entries()) {
    const tools = new Set(rule.condition?.toolNames ?? [])
    if (tools.size === 0) ofAny.push({ position, rule })
    for (const tool of tools) {
      const named = ofTool.get(tool) ?? []
      ofTool.set(tool, named)
      named.push({ position, rule })
    }
  }
  return { ofTool, ofAny }
}

/** The rules that the tool of an event does not exclude, in their order. */
function candidatesFor<Rule>(
  { ofTool, ofAny }: ListeningRules<Rule>,
  tool: string | undefined,
): readonly PlacedRule<Rule>[] {
  const named = tool === undefined ? undefined : ofTool.get(tool)
  if (named === undefined) return ofAny
  return [...named, ...ofAny].toSorted((left, right) => left.position - right.position)
}

/** The enabled rules that the event meets, in their order. */
export function evaluateHookChainRules<Rule extends TriggeredRule>(
  rules: readonly Rule[],
  event: HookChainEvent,
): { readonly rule: Rule }[] {
  return compileRules(rules)
    .matching(event)
    .map((rule) => ({ rule }))
}

/** Undefined if the event meets every condition of the rule. Whether the rule is switched on is not asked here. */
export function unmetCondition(
  { trigger, condition = {} }: TriggeredRule,
  { eventName, outcome, payload = {} }: HookChainEvent,
): UnmetCondition | undefined {
  if (trigger.event !== eventName)
    return { condition: 'trigger.event', wanted: trigger.event, actual: eventName }
  const wanted = trigger.outcomes ?? (trigger.outcome === undefined ? undefined : [trigger.outcome])
  if (wanted !== undefined && !wanted.includes(outcome)) {
    const field = trigger.outcomes === undefined ? 'outcome' : 'outcomes'
    return { condition: `trigger.${field}`, wanted: trigger[field], actual: outcome }
  }
  return (
    unmetName('toolNames', condition.toolNames, toolNameOf(payload)) ??
    unmetName('taskStatuses', condition.taskStatuses, taskStatusOf(payload)) ??
    unmetError(condition.errorIncludes, payload) ??
    unmetField(condition.eventFieldEquals, payload)
  )
}

function unmetName(
  field: keyof RuleCondition,
  wanted: readonly string[] | undefined,
  actual: string | undefined,
): UnmetCondition | undefined {
  if (wanted === undefined || wanted.length === 0) return undefined
  if (actual !== undefined && wanted.includes(actual)) return undefined
  return { condition: `condition.${field}`, wanted, actual }
}

function unmetError(wanted: readonly string[] | undefined, payload: RulePayload): UnmetCondition | undefined {
  if (wanted === undefined || wanted.length === 0) return undefined
  const actual = firstText(payload, ['error', 'reason', 'message'])
  const lower = actual?.toLowerCase()
  if (lower !== undefined && wanted.some((fragment) => lower.includes(fragment.toLowerCase())))
    return undefined
  return { condition: 'condition.errorIncludes', wanted, actual }
}

function unmetField(
  wanted: RuleCondition['eventFieldEquals'],
  payload: RulePayload,
): UnmetCondition | undefined {
  for (const [path, value] of Object.entries(wanted ?? {})) {
    const actual = valueAt(payload, path)
    if (actual !== value) return { condition: `condition.eventFieldEquals.${path}`, wanted: value, actual }
  }
  return undefined
}

/** Reads own properties only, so that a path cannot reach `__proto__` or `constructor`. */
function valueAt(payload: RulePayload, path: string): unknown {
  let current: unknown = payload
  for (const segment of path.split('.').filter((part) => part !== '')) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, segment)) return undefined
    current = Reflect.get(current, segment)
  }
  return current
}

/** The first of these fields that is a text and not empty. */
export function firstText(payload: RulePayload, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(payload, name) ? payload[name] : undefined
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

function toolNameOf(payload: RulePayload): string | undefined {
  return firstText(payload, ['tool_name', 'toolName'])
}

function taskStatusOf(payload: RulePayload): string | undefined {
  return firstText(payload, ['task_status', 'taskStatus', 'status'])
}
