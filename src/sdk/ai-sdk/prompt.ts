import type { LanguageModelMiddleware } from 'ai'
import type { Edit, Spelling } from '../edits.ts'

export type Request = Parameters<NonNullable<LanguageModelMiddleware['transformParams']>>[0]['params']
export type Prompt = Request['prompt']
type Message = Prompt[number]
type UserMessage = Extract<Message, { role: 'user' }>

export function promptText(message: UserMessage): string {
  return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** The message that the model is about to answer, when it is the user's. */
export function newest(prompt: Prompt): UserMessage | undefined {
  const last = prompt.at(-1)
  return last?.role === 'user' ? last : undefined
}

function edited(message: UserMessage, { text, context }: Edit): UserMessage {
  const added = context.map((note) => ({ type: 'text' as const, text: note }))
  if (text === undefined) return { ...message, content: [...message.content, ...added] }
  const others = message.content.filter((part) => part.type !== 'text')
  return { ...message, content: [{ type: 'text', text }, ...others, ...added] }
}

/** Behind the instructions, where it stays the same from request to request. */
export function instructed(prompt: Prompt, context: readonly string[]): Prompt {
  if (context.length === 0) return prompt
  const first = prompt.findIndex(({ role }) => role !== 'system')
  const at = first < 0 ? prompt.length : first
  return [...prompt.slice(0, at), { role: 'system', content: context.join('\n') }, ...prompt.slice(at)]
}

export const spelling: Spelling<Message> = {
  userText: (message) => (message.role === 'user' ? promptText(message) : undefined),
  edited: (message, edit) => (message.role === 'user' ? edited(message, edit) : message),
}
