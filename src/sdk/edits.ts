/** What hooks made of a message of the user. */
export interface Edit {
  readonly text?: string
  readonly context: readonly string[]
}

/** How the messages of one SDK are read and changed. */
export interface Spelling<M> {
  /** Nothing for a message that is not the user's. */
  userText(message: M): string | undefined
  edited(message: M, edit: Edit): M
}

/**
 * An SDK makes each request of the messages it began with, so what was changed once is changed in every request. A message
 * is known by its text, and by how often that text came before.
 */
export class Edits<M> {
  readonly #spelling: Spelling<M>
  readonly #edits = new Map<string, Edit[]>()

  constructor(spelling: Spelling<M>) {
    this.#spelling = spelling
  }

  /** The last message with this text was changed. */
  note(messages: readonly M[], text: string, edit: Edit): void {
    const list = this.#edits.get(text) ?? []
    const times = messages.filter((each) => this.#spelling.userText(each) === text).length
    list[Math.max(0, times - 1)] = edit
    this.#edits.set(text, list)
  }

  apply(messages: M[]): M[] {
    if (this.#edits.size === 0) return messages
    const seen = new Map<string, number>()
    return messages.map((message) => {
      const text = this.#spelling.userText(message)
      if (text === undefined) return message
      const times = seen.get(text) ?? 0
      seen.set(text, times + 1)
      const list = this.#edits.get(text)
      const edit = list?.[times] ?? list?.at(-1)
      return edit === undefined ? message : this.#spelling.edited(message, edit)
    })
  }
}
