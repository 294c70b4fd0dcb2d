import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { ClientOutcome, NativePayload, PluginReply } from '../agent-adapter.ts'
import { changedArguments, contextReply, passReply, pluginRefusal } from '../plugin/plugin-reply.ts'
import { outputText } from '../translate/process-reply.ts'
import { type PayloadRecord, recordField } from '../translate/read-fields.ts'
import { lookUp } from '../translate/tool-names.ts'
import { opencodeCall } from './read.ts'

type Reply = (outcome: ClientOutcome, native: NativePayload) => PluginReply

const beforeTool: Reply = ({ kind, message, input }, native) => {
  if (kind === 'block' || kind === 'ask') return pluginRefusal(message)
  if (input === undefined) return passReply
  const args = changedArguments(opencodeCall(native), input)
  return args === undefined ? pluginRefusal(cannot(message)) : { args }
}

const afterTool: Reply = ({ input, context }, { output }) => {
  if (!isRecord(output)) return passReply
  const changed = input === undefined ? output : { ...output, ...changedOutput(output, input) }
  const noted = context === undefined ? changed : { ...changed, ...withNote(changed, context) }
  return noted === output ? passReply : { output: noted }
}

/** The result in the format of the tool. A text replaces every field that could still hold what the hook hides. */
function changedOutput(original: PayloadRecord, input: unknown): PayloadRecord {
  if (isRecord(input) && (typeof input.output === 'string' || Array.isArray(input.content))) {
    const { output } = original.metadata === undefined ? {} : recordField(original, 'metadata')
    const isRepeated = typeof input.output === 'string' && output === original.output
    return isRepeated
      ? { ...input, metadata: { ...recordField(input, 'metadata'), output: input.output } }
      : input
  }
  const text = outputText(input)
  if (Array.isArray(original.content)) return { content: [{ type: 'text', text }], structuredContent: null }
  return { output: text, metadata: blank(recordField(original, 'metadata'), text), attachments: [] }
}

/** Keeps numbers and flags. The new text replaces the displayed output of a command. */
function blank(metadata: PayloadRecord, text: string): PayloadRecord {
  const kept = Object.entries(metadata).filter(([, value]) => ['number', 'boolean'].includes(typeof value))
  return { ...Object.fromEntries(kept), ...('output' in metadata ? { output: text } : {}) }
}

function withNote(output: PayloadRecord, text: string): PayloadRecord {
  if (Array.isArray(output.content)) return { content: [...output.content, { type: 'text', text }] }
  return { output: `${String(output.output ?? '')}\n\n${text}` }
}

const prompt: Reply = ({ kind, message, input, context }) => {
  if (kind === 'block' || kind === 'ask') return pluginRefusal(message)
  if (input !== undefined && typeof input !== 'string') return pluginRefusal(cannot(message))
  return { ...definedFields({ prompt: input }), ...contextReply(context) }
}

function cannot(message: string): string {
  return `a hook changed this in a way that OpenCode cannot carry out: ${message}`
}

const replies: Readonly<Record<string, Reply>> = {
  'tool.execute.before': beforeTool,
  'tool.execute.after': afterTool,
  'chat.message': prompt,
  'experimental.session.compacting': ({ context }) => contextReply(context),
  'chat.params': ({ input }) => (isRecord(input) ? { output: input } : passReply),
}

/** The reply in the format of the plugin, which rejects unknown fields. */
export function opencodeReply(event: string, outcome: ClientOutcome, native: NativePayload): PluginReply {
  return lookUp(replies, event)?.(outcome, native) ?? passReply
}
