/** How the server calls itself: known from the start, or once it has answered `initialize`. The first name stays. */
export class ServerName {
  #name: string | undefined
  #expected = 0
  #told = Promise.withResolvers<void>()

  constructor(given: string | undefined) {
    this.#name = given
  }

  /** The server was asked. */
  expect(): void {
    this.#expected++
  }

  /** The server answered, or never will. */
  learn(name: unknown): void {
    this.#expected--
    if (typeof name === 'string') this.#name ??= name
    this.#told.resolve()
    this.#told = Promise.withResolvers()
  }

  /** Waits if the server was asked. Nothing when nobody asked: matchers would be asked about a wrong name. */
  async known(signal: AbortSignal): Promise<string | undefined> {
    const aborted = Promise.withResolvers<void>()
    const leave = () => aborted.resolve()
    signal.addEventListener('abort', leave)
    while (this.#name === undefined && this.#expected > 0 && !signal.aborted)
      await Promise.race([this.#told.promise, aborted.promise])
    signal.removeEventListener('abort', leave)
    return this.#name
  }

  get now(): string | undefined {
    return this.#name
  }
}
