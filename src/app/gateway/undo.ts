import { errorText } from '../../engine/core/error.ts'
import type { Log } from '../../engine/core/sink.ts'

type Step = () => unknown

/** What was opened, to be closed in the opposite order: at the end, or as soon as a later step fails. */
export class Undo {
  readonly #steps: Step[] = []
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  add(step: Step): void {
    this.#steps.unshift(step)
  }

  /** Every step runs, whatever those before it do. */
  async all(): Promise<void> {
    for (const step of this.#steps.splice(0)) {
      try {
        await step()
      } catch (thrown) {
        this.#log('gateway.close_failed', { error: errorText(thrown) })
      }
    }
  }
}
