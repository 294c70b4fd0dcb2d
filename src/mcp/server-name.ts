/** The server's name: given at the start, or taken from its first response to `initialize` or `server/discover`. */
export class ServerName {
  #name: string | undefined
  #expected = 0
  #answered = Promise.withResolvers<void>()

  constructor(given: string | undefined) {
    this.#name = given
  }

  /** A request that the server answers with its name goes to the server. */
  expect(): void {
    this.#expected++
  }

  /** The server responded to such a request, or never will. */
  learn(name: unknown): void {
    this.#expected--
    if (typeof name === 'string') this.#name ??= name
    this.#answered.resolve()
    this.#answered = Promise.withResolvers()
  }

  /** Neither known nor on its way. */
  get isMissing(): boolean {
    return this.#name === undefined && this.#expected === 0
  }

  /** Waits for a pending response. Undefined without one: matchers must not see a wrong name. */
  async known(signal: AbortSignal): Promise<string | undefined> {
    const aborted = Promise.withResolvers<void>()
    const onAbort = () => aborted.resolve()
    signal.addEventListener('abort', onAbort)
    while (this.#name === undefined && this.#expected > 0 && !signal.aborted)
      await Promise.race([this.#answered.promise, aborted.promise])
    signal.removeEventListener('abort', onAbort)
    return this.#name
  }

  get now(): string | undefined {
    return this.#name
  }
}
