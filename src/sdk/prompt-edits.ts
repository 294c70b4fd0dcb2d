import type { Decision } from '../engine/core/decision.ts'

/** The changes of hooks to a message of the user. */
export interface PromptEdit {
  readonly text?: string
  readonly context: readonly string[]
}

/** How to read and change the messages of one SDK. */
export interface MessageFormat<M> {
  /** Undefined for a message that is not the user's. */
  userText(message: M): string | undefined
  applyEdit(message: M, edit: PromptEdit): M
}

/**
 * An SDK builds each request from the original messages, so every request needs the earlier changes again. A message is
 * identified by its text and by how often that text occurred before it.
 */
export class PromptEdits<M> {
  readonly #format: MessageFormat<M>
  readonly #edits = new Map<string, PromptEdit[]>()

  constructor(format: MessageFormat<M>) {
    this.#format = format
  }

  /** Records what a decision changes in the last message with this text. */
  record(messages: readonly M[], text: string, { input, context = [] }: Decision): void {
    if (typeof input !== 'string' && context.length === 0) return
    const edit = { context, ...(typeof input === 'string' ? { text: input } : {}) }
    const list = this.#edits.get(text) ?? []
    const times = messages.filter((each) => this.#format.userText(each) === text).length
    list[Math.max(0, times - 1)] = edit
    this.#edits.set(text, list)
  }

  apply(messages: M[]): M[] {
    if (this.#edits.size === 0) return messages
    const seen = new Map<string, number>()
    return messages.map((message) => {
      const text = this.#format.userText(message)
      if (text === undefined) return message
      const times = seen.get(text) ?? 0
      seen.set(text, times + 1)
      const list = this.#edits.get(text)
      const edit = list?.[times] ?? list?.at(-1)
      return edit === undefined ? message : this.#format.applyEdit(message, edit)
    })
  }
}
