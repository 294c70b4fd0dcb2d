import { isRecord } from '../../engine/core/check.ts'
import type { ProcessReply } from '../agent-adapter.ts'

/** No objection: the agent continues as if Hookhelm were not installed. */
export const silentReply: ProcessReply = Object.freeze({ exit: 0, stdout: '', stderr: '' })

export function jsonReply(output: object): ProcessReply {
  return { exit: 0, stdout: JSON.stringify(output), stderr: '' }
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
