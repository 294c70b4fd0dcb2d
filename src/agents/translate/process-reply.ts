import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { ClientOutcome, NativePayload, ProcessReply } from '../agent-adapter.ts'
import { lookUp } from './tool-names.ts'

/** The reply to one event of an agent. */
export type Reply = (outcome: ClientOutcome, native: NativePayload) => ProcessReply

/** No objection: the agent continues as if Hookhelm were not installed. */
export const silentReply: ProcessReply = Object.freeze({ exit: 0, stdout: '', stderr: '' })

export function jsonReply(output: object): ProcessReply {
  return { exit: 0, stdout: JSON.stringify(output), stderr: '' }
}

/** JSON with the fields that have a value. Silent if none has. */
export function fieldsReply(fields: object): ProcessReply {
  const output = definedFields(fields)
  return Object.keys(output).length === 0 ? silentReply : jsonReply(output)
}

/** The fields for one event in the form of Claude Code, which other agents use too. Silent if none has a value. */
export function hookReply(hookEventName: string, fields: object): ProcessReply {
  const output = definedFields(fields)
  if (Object.keys(output).length === 0) return silentReply
  return jsonReply({ hookSpecificOutput: { hookEventName, ...output } })
}

/** Adds context in the form of Claude Code. */
export function addsContext(hookEventName: string): Reply {
  return ({ context: additionalContext }) => hookReply(hookEventName, { additionalContext })
}

/** The reply of an agent to each of its events. Events that are not in the table get none. */
export function replyFrom(replies: Readonly<Record<string, Reply>>) {
  return (event: string, outcome: ClientOutcome, native: NativePayload): ProcessReply =>
    lookUp(replies, event)?.(outcome, native) ?? silentReply
}

/** Blocks in every agent with command hooks: exit code 2, a line on stderr, nothing on stdout. */
export function blockingReply(message: string): ProcessReply {
  return { exit: 2, stdout: '', stderr: `${notJson(oneLine(message))}\n` }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not reach a terminal
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

function oneLine(message: string): string {
  // The client refuses half a surrogate pair, and the reason would be lost.
  return message.toWellFormed().replace(CONTROL, ' ').trim() || 'blocked'
}

/** Gemini CLI parses stderr as JSON if it can. A message that looks like JSON must not decide. */
function notJson(line: string): string {
  try {
    JSON.parse(line)
  } catch {
    return line
  }
  return `blocked: ${line}`
}

/** Fields that hold the text for the model, in order of preference. */
const keys = ['llmContent', 'textResultForLlm', 'text', 'content', 'stdout', 'output', 'result'] as const

/**
 * The output of a tool as one replacement text. Never empty: agents ignore an empty text and would show the original.
 */
export function outputText(output: unknown): string {
  const text = textIn(output) ?? JSON.stringify(output) ?? ''
  return text.replace(/[\s\u0085]+/g, '') === '' ? 'a hook removed this output' : text
}

function textIn(output: unknown): string | undefined {
  if (typeof output === 'string') return output
  if (Array.isArray(output)) {
    const texts = output.map(textIn)
    return texts.every((text) => text !== undefined) && texts.length > 0 ? texts.join('\n') : undefined
  }
  if (!isRecord(output)) return undefined
  const key = keys.find((name) => Object.hasOwn(output, name))
  return key === undefined ? undefined : textIn(output[key])
}
