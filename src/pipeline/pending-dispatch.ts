import type { DispatchRecord, Execution, LateDispatch, Sink } from '../engine/core/records/sink.ts'
import type { EventRecord } from '../history/audit-tables.ts'
import type { AuditItem, AuditQueue } from '../history/record/audit-queue.ts'
import { emitSpans } from '../history/record/emit-spans.ts'
import { lateRecord, type RecordContext, toEventRecord } from '../history/record/event-record.ts'

/**
 * One dispatch until its record is written. The record is held back until it is known which deliveries and answers
 * are written with it; a record that arrives later, because shadow hooks were still running, is written by itself.
 */
export class PendingDispatch implements Sink {
  readonly timed = true
  readonly #audit: Pick<AuditQueue, 'add'>
  readonly #context: RecordContext
  #held: DispatchRecord | undefined
  #isReleased = false

  constructor(audit: Pick<AuditQueue, 'add'>, context: RecordContext) {
    this.#audit = audit
    this.#context = context
  }

  record(dispatch: DispatchRecord): void {
    if (this.#isReleased) this.#audit.add({ event: this.#writer(dispatch) })
    else this.#held = dispatch
  }

  late(execution: Execution, dispatch: LateDispatch): void {
    this.#audit.add({ event: () => lateRecord(execution, dispatch, this.#context) })
  }

  /** The executions of the record that failed; none while it has not arrived. */
  failures(): readonly Execution[] {
    const all = this.#held?.executions() ?? []
    return all.filter(({ decision }) => decision === 'error' || decision === 'timeout')
  }

  /** The items to write now. Empty if the record has not arrived yet. */
  release(): Pick<AuditItem, 'event'> {
    this.#isReleased = true
    return this.#held === undefined ? {} : { event: this.#writer(this.#held) }
  }

  /** Builds the record and emits its spans once, even if its group is written several times. */
  #writer(dispatch: DispatchRecord): () => EventRecord {
    let built: EventRecord | undefined
    return () => {
      if (built !== undefined) return built
      built = toEventRecord(dispatch, this.#context)
      emitSpans(built, dispatch.envelope.traceparent)
      return built
    }
  }
}
