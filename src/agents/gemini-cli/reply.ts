import { isRecord } from '../../engine/core/schema/check.ts'
import type { NativePayload } from '../agent-adapter.ts'
import {
  addsContext,
  blockingReply,
  hookReply,
  jsonReply,
  outputText,
  type Reply,
  replyFrom,
  silentReply,
} from '../translate/process-reply.ts'
import { lookUp, toNative } from '../translate/tool-names.ts'
import { geminiCliTools } from './tools.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Optional arguments, and the value that means the same as leaving them out. Gemini CLI merges a changed input into the
 * old one, so nothing can be removed, and checks it against the tool's schema, which does not allow null.
 */
const blanks: Readonly<Record<string, Fields>> = {
  run_shell_command: { description: '', dir_path: '', is_background: false },
}

const beforeTool: Reply = ({ kind, message, input }, native) => {
  if (kind === 'block' || kind === 'ask') return blockingReply(message)
  if (input === undefined) return silentReply
  const changed = changedInput(native, input)
  if (typeof changed === 'string') return blockingReply(`${changed}: ${message}`)
  return hookReply('BeforeTool', { tool_input: changed })
}

/** Returns what to merge into the arguments, or why the change cannot be expressed. */
function changedInput({ tool_name, tool_input }: NativePayload, input: unknown): Fields | string {
  const name = String(tool_name)
  const original = isRecord(tool_input) ? tool_input : {}
  if (!isRecord(input)) return 'a hook changed the arguments into something else'
  const wanted = toNative(geminiCliTools, name, input, original)
  const removed = Object.keys(original).filter((key) => !Object.hasOwn(wanted, key))
  const blank = lookUp(blanks, name) ?? {}
  const stuck = removed.find((key) => !Object.hasOwn(blank, key))
  if (stuck !== undefined)
    return `a hook left out the argument ${stuck}, and Gemini CLI cannot take one away here`
  return { ...wanted, ...Object.fromEntries(removed.map((key) => [key, blank[key]])) }
}

/** The reason replaces a denied result, and nothing can be added to it. So the reason includes the context. */
const afterTool: Reply = ({ input, context }) => {
  if (input !== undefined) {
    const reason = [outputText(input), context].filter((text) => text !== undefined).join('\n\n')
    return jsonReply({ decision: 'deny', reason })
  }
  return hookReply('AfterTool', { additionalContext: context })
}

/** Sends only the difference: for each key, Gemini CLI replaces more than the hook sees. */
const modelPart =
  (hookEventName: string, key: 'llm_request' | 'llm_response'): Reply =>
  ({ input }, native) => {
    const original = native[key]
    if (!isRecord(input) || !isRecord(original)) return silentReply
    const changed = Object.entries(input).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(original[name]),
    )
    if (changed.length === 0) return silentReply
    const sent = key === 'llm_response' ? input : Object.fromEntries(changed)
    return hookReply(hookEventName, { [key]: sent })
  }

/** The replies in the exact format that Gemini CLI honours. */
export const geminiCliReply = replyFrom({
  BeforeTool: beforeTool,
  AfterTool: afterTool,
  BeforeAgent: (outcome, native) =>
    outcome.kind === 'block' ? blockingReply(outcome.message) : addsContext('BeforeAgent')(outcome, native),
  // The reason is the next prompt, so it keeps its line breaks.
  AfterAgent: ({ kind, message }) =>
    kind === 'block' ? jsonReply({ decision: 'deny', reason: message }) : silentReply,
  SessionStart: addsContext('SessionStart'),
  BeforeModel: modelPart('BeforeModel', 'llm_request'),
  AfterModel: modelPart('AfterModel', 'llm_response'),
})
