/** The JSON answers that hooks of other harnesses give, as tables. */

import type { Kind } from '../engine/core/decision.ts'
import { isRecord } from '../engine/core/schema/check.ts'

/** A JSON object that a hook answered. */
export type HookAnswer = Readonly<Record<string, unknown>>

/** One decision in an answer. An answer may contain several. */
export interface DialectDecision {
  readonly kind: Kind
  readonly reason?: string
  readonly message?: string
}

/** Claude Code ends the run on `defer` instead of running the tool, so a person has to decide. */
const kinds: Readonly<Record<string, Kind>> = {
  allow: 'allow',
  approve: 'allow',
  ask: 'ask',
  defer: 'ask',
  block: 'block',
  deny: 'block',
}

/** The objects in which a decision may be: the answer, its `hookSpecificOutput`, and the `decision` inside of that. */
type AnswerPart = 'top' | 'specific' | 'decision'

/** In this order: GoClaw, Claude Code and Gemini; Cursor; Copilot; Claude Code's permission requests; Claude Code's newer form. */
const decisionFields: readonly {
  readonly part: AnswerPart
  readonly key: string
  readonly reasons: readonly string[]
  readonly messages?: readonly string[]
}[] = [
  { part: 'top', key: 'decision', reasons: ['reason', 'stopReason'] },
  {
    part: 'top',
    key: 'permission',
    // Cursor accepts both spellings.
    reasons: ['user_message', 'userMessage', 'agent_message', 'agentMessage'],
    messages: ['agent_message', 'agentMessage'],
  },
  { part: 'top', key: 'permissionDecision', reasons: ['permissionDecisionReason', 'reason'] },
  { part: 'top', key: 'behavior', reasons: ['message'] },
  { part: 'specific', key: 'permissionDecision', reasons: ['permissionDecisionReason'] },
  { part: 'decision', key: 'behavior', reasons: ['message'] },
]

/** An answer with at least one of these keys is in a known dialect. */
export const answerKeys: ReadonlySet<string> = new Set([
  ...'continue stopReason suppressOutput systemMessage terminalSequence async asyncTimeout block'.split(' '),
  ...'hookSpecificOutput additionalContext additional_context updatedInput updated_input grant'.split(' '),
  ...'modifiedArgs modifiedResult modifiedPrompt updated_mcp_tool_output updatedToolOutput'.split(' '),
  ...decisionFields.filter(({ part }) => part === 'top').map(({ key }) => key),
])

/** Keys of Cursor that are an answer to these events only. */
export const eventAnswerKeys: Readonly<Record<string, readonly string[]>> = {
  stop: ['followup_message'],
  subagent_stop: ['followup_message'],
  session_start: ['env'],
}

export function isKnownDialect(answer: HookAnswer, event: string): boolean {
  const more = Object.hasOwn(eventAnswerKeys, event) ? eventAnswerKeys[event] : undefined
  return Object.keys(answer).some((key) => answerKeys.has(key) || more?.includes(key))
}

function splitAnswer(answer: HookAnswer): Readonly<Record<AnswerPart, HookAnswer>> {
  const specific = isRecord(answer.hookSpecificOutput) ? answer.hookSpecificOutput : {}
  return { top: answer, specific, decision: isRecord(specific.decision) ? specific.decision : {} }
}

/** Every decision in the answer, and the key of the first one that is not understood. */
export function readDecisions(answer: HookAnswer): {
  readonly decisions: readonly DialectDecision[]
  readonly unknownKey?: string
} {
  const parts = splitAnswer(answer)
  const decisions: DialectDecision[] = []
  let unknownKey: string | undefined
  for (const { part, key, reasons, messages = [] } of decisionFields) {
    const value = parts[part][key]
    if (value === undefined) continue
    const kind = typeof value === 'string' && Object.hasOwn(kinds, value) ? kinds[value] : undefined
    if (kind === undefined) unknownKey ??= key
    else
      decisions.push({
        kind,
        ...firstText(parts[part], 'reason', reasons),
        ...firstText(parts[part], 'message', messages),
      })
  }
  if (answer.continue === false)
    decisions.push({ kind: 'block', ...firstText(answer, 'reason', stopReasons) })
  else if (answer.continue !== undefined && answer.continue !== null && answer.continue !== true)
    unknownKey ??= 'continue'
  // OpenClaw's answer.
  if (answer.block === true)
    decisions.push({ kind: 'block', ...firstText(answer, 'reason', ['blockReason']) })
  else if (answer.block !== undefined && answer.block !== false) unknownKey ??= 'block'
  return unknownKey === undefined ? { decisions } : { decisions, unknownKey }
}

/** The reasons of Claude Code and Gemini, then Cursor's. */
const stopReasons = ['stopReason', 'reason', 'user_message', 'userMessage']

function firstText(
  part: HookAnswer,
  as: 'reason' | 'message',
  keys: readonly string[],
): Partial<DialectDecision> {
  const key = keys.find((name) => typeof part[name] === 'string' && part[name] !== '')
  return key === undefined ? {} : { [as]: String(part[key]) }
}

/** The notes for the model in an answer. */
export function readAnswerContext(answer: HookAnswer): readonly unknown[] {
  const { specific } = splitAnswer(answer)
  return [specific.additionalContext, answer.additionalContext, answer.additional_context]
    .flat()
    .filter((note) => note !== undefined && note !== null && note !== '')
}

/** The new input or output in an answer, in the spelling of any harness. `{}` and null change nothing. */
export function readAnswerPatch(answer: HookAnswer, event: string, payload: unknown): unknown {
  const { specific, decision } = splitAnswer(answer)
  const candidates =
    event === 'post_tool_use'
      ? [
          specific.updatedToolOutput,
          specific.updatedMCPToolOutput,
          answer.updatedToolOutput,
          answer.updated_mcp_tool_output,
          answer.modifiedResult,
        ]
      : [
          specific.updatedInput,
          decision.updatedInput,
          answer.updatedInput,
          answer.updated_input,
          answer.modifiedArgs,
          mergeToolInput(specific.tool_input, payload),
          answer.modifiedPrompt,
        ]
  const input = candidates.find((candidate) => !isEmptyPatch(candidate))
  return event === 'user_prompt_submit' && isRecord(input) ? input.prompt : input
}

export function isEmptyPatch(input: unknown): boolean {
  return input === undefined || input === null || (isRecord(input) && Object.keys(input).length === 0)
}

/** Gemini merges the new arguments into the old ones. */
function mergeToolInput(input: unknown, payload: unknown): unknown {
  if (isEmptyPatch(input) || !isRecord(input)) return input
  const before = isRecord(payload) && isRecord(payload.tool_input) ? payload.tool_input : {}
  return { ...before, ...input }
}
