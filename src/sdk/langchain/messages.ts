import { type BaseMessage, type BaseMessageLike, coerceMessageLikeToMessage } from '@langchain/core/messages'
import { isRecord } from '../../engine/core/schema/check.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'

type Content = BaseMessage['content']

/** Fields that only some kinds of messages have. */
interface OptionalFields {
  readonly tool_calls?: unknown
  readonly tool_call_id?: unknown
  readonly status?: unknown
}

/** A message as hooks see it. */
export function plainMessage(message: BaseMessage): Readonly<Record<string, unknown>> {
  const { id, name, content } = message
  const { tool_calls, tool_call_id, status } = message as BaseMessage & OptionalFields
  return {
    type: message.getType(),
    content,
    ...definedFields({ id, name, tool_call_id, status }),
    ...(Array.isArray(tool_calls) && tool_calls.length > 0 ? { tool_calls } : {}),
  }
}

/** Reverses `plainMessage`. Unchanged messages stay as they are; changed ones keep the fields that hooks do not see. */
export function restoreMessages(changed: readonly unknown[], before: readonly BaseMessage[]): BaseMessage[] {
  return changed.map((item, index) => {
    const original = before[index]
    if (original === undefined || !isRecord(item)) return coerceMessageLikeToMessage(item as BaseMessageLike)
    const known = plainMessage(original)
    if (JSON.stringify(known) === JSON.stringify(item)) return original
    if (known.type !== item.type || known.id !== item.id)
      return coerceMessageLikeToMessage(item as unknown as BaseMessageLike)
    const { type, ...fields } = item
    return withFields(original, fields)
  })
}

/** Returns a copy of the message with other fields. */
export function withFields<M extends BaseMessage>(message: M, fields: Readonly<Record<string, unknown>>): M {
  const Same = message.constructor as new (fields: Readonly<Record<string, unknown>>) => M
  return new Same({ ...message.lc_kwargs, ...fields })
}

/** Returns the content with a text at its end. */
export function appendText(content: Content, text: string): Content {
  if (typeof content === 'string') return content === '' ? text : `${content}\n\n${text}`
  return [...content, { type: 'text', text }]
}

/** Returns the content with one text instead of its texts. */
export function replaceText(content: Content, text: string): Content {
  if (typeof content === 'string') return text
  return [{ type: 'text', text }, ...content.filter((block) => block.type !== 'text')]
}
