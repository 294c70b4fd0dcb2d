import { isRecord } from '../../engine/core/check.ts'
import type { ProcessReply } from '../agent-adapter.ts'

/** Nothing to say: the client goes on as if we were not there. */
export const silentReply: ProcessReply = Object.freeze({ exit: 0, stdout: '', stderr: '' })

export function jsonReply(output: object): ProcessReply {
  return { exit: 0, stdout: JSON.stringify(output), stderr: '' }
}

/** What blocks in every client with command hooks: code 2, a line on stderr, nothing on stdout. */
export function blockingReply(message: string): ProcessReply {
  return { exit: 2, stdout: '', stderr: `${notJson(oneLine(message))}\n` }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a terminal
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

function oneLine(message: string): string {
  // Half a character is refused by the client, which could then say no reason at all.
  return message.toWellFormed().replace(CONTROL, ' ').trim() || 'blocked'
}

/** Gemini CLI reads stderr as JSON where it can: a message that happens to be some must not decide. */
function notJson(line: string): string {
  try {
    JSON.parse(line)
  } catch {
    return line
  }
  return `blocked: ${line}`
}

/** Where tools put the text that the model reads, nearest first. */
const keys = ['llmContent', 'textResultForLlm', 'text', 'content', 'stdout', 'output', 'result'] as const

/**
 * The output of a tool as the one text that a client takes in its place. Never empty: a client takes an empty text for none,
 * and would show what was to be hidden.
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
