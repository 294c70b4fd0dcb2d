import type { Clock } from '../../engine/core/clock.ts'
import type { Envelope } from '../../engine/core/context.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { errorText, isHookError } from '../../engine/core/error.ts'
import type { DispatchRecord, Log, Sink } from '../../engine/core/sink.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { eventNames } from '../../engine/events/names.ts'
import { timeUuid } from '../../safe/time-uuid.ts'
import type { Store } from '../../store/store.ts'
import type { EventRecord } from '../../store/stores/audit-store.ts'
import { lateRecord, type Recorded, toEventRecord } from '../audit/event-record.ts'
import type { AuditItem, AuditQueue } from '../audit/queue.ts'
import { shownDecision } from '../audit/shown-decision.ts'
import { emitSpans } from '../audit/spans.ts'
import type { Settings } from '../settings.ts'
import type { Snapshot, WorkPlace } from '../tenancy/snapshot.ts'
import type { Snapshots } from '../tenancy/snapshots.ts'
import { answerOf } from './answer.ts'
import type { DispatchAnswer, Dispatcher, DispatchHow, DispatchRequest } from './dispatcher.ts'
import { completeEnvelope } from './envelope.ts'
import { type HookDelivery, hookDeliveries } from './hook-delivery.ts'
import { createRepeats, identityOf, type Repeatable, toKeep } from './repeats.ts'

interface DispatchParts {
  readonly store: Pick<Store, 'findAnswer'>
  readonly snapshots: Snapshots
  readonly settings: Settings
  readonly audit: AuditQueue
  readonly clock: Clock
  readonly log: Log
  /** Work was queued. */
  wakeDeliveries(): void
}

export interface EventDispatcher extends Dispatcher {
  /** Where the hooks of a tenant leave their records. */
  sinkOf(tenant: string): Sink
  /** Runs one queued hook, and answers how its execution ended, or why there was none. */
  deliver(
    tenant: string,
    delivery: HookDelivery,
    attempt: number,
  ): Promise<Delivered | 'gone' | 'off' | 'missed'>
}

export interface Delivered {
  readonly decision: string
  readonly code: string | undefined
  readonly reason: string | undefined
  readonly status: unknown
  readonly handlerType: string
}

const resolve = eventNames(catalogue)

/** A request with everything that only we know. */
interface Completed extends DispatchRequest {
  readonly event: keyof typeof catalogue
  readonly envelope: Envelope & { readonly id: string; readonly tenant: string }
}

/** One event on its way, from the request to its record. */
interface Journey extends Recorded {
  /** The record, until it is known what has to be written with it. */
  held?: DispatchRecord
  /** It is known: a record that comes only now, because shadow hooks were still running, is written by itself. */
  released: boolean
}

/**
 * The envelope is the one object that a dispatch and its record share, so the journey travels with it, under a key that no JSON
 * shows. A weak map would do the same, at a price that every collection pays.
 */
const JOURNEY = Symbol('journey')

function journeyOf(envelope: Envelope & { readonly [JOURNEY]?: Journey }): Journey | undefined {
  return envelope[JOURNEY]
}

export function createDispatcher(parts: DispatchParts): EventDispatcher {
  const { snapshots, settings, audit, clock, log } = parts
  const repeats = createRepeats(parts.store, clock)
  const sinkOf = (): Sink => ({
    timed: true,
    record(record) {
      const journey = journeyOf(record.envelope)
      if (journey === undefined) return
      if (journey.released) audit.add({ event: written(record, journey) })
      else journey.held = record
    },
    late(execution, event, moment) {
      const journey = journeyOf(moment.envelope)
      if (journey !== undefined) audit.add({ event: () => lateRecord(execution, event, moment, journey) })
    },
  })

  const run = async (
    request: Completed,
    how: DispatchHow,
    repeat: Repeatable | undefined,
  ): Promise<DispatchAnswer> => {
    const { event, payload, envelope } = request
    const { tenant, id } = envelope
    const { mode } = catalogue[event]
    const snapshot = await snapshotOf(tenant, event, how.folder)
    if (typeof snapshot === 'string') return answerOf(id, unresolved(mode, snapshot))
    const observers = snapshot.hooks.has(event)
      ? snapshot.hooks.observers(event, payload as never, envelope)
      : []
    const isStrict = settings.of(tenant).audit === 'strict'
    const keeps = repeat !== undefined && (mode === 'observe' || request.idempotency_key !== undefined)
    // A record that is waited for must be complete when the answer is there.
    const waits = observers.length > 0 || isStrict || keeps
    const journey: Journey = { tenant, text: how.text, attempt: 1, find: snapshot.find, released: false }
    const travelling = Object.assign(envelope, { [JOURNEY]: journey })
    const decision = await snapshot.hooks.dispatch(event, payload as never, travelling, {
      observers: 'skip',
      ...(how.signal === undefined ? {} : { signal: how.signal }),
      ...(waits || request.trace ? { trace: true } : {}),
    })
    const answer = answerOf(id, shownDecision(request.trace ? decision : withoutTrace(decision)))
    const answers =
      repeat !== undefined && (keeps || decision.kind === 'ask')
        ? [toKeep(repeat, answer.json, clock.now())]
        : []
    // A stored hook must not wait for the files of the folder its event came from.
    const folderOf = (hook: string) => (snapshot.find(hook)?.isInFile ? how.folder : undefined)
    const deliveries = hookDeliveries(observers, { event, payload, envelope }, folderOf)
    const item = { ...release(journey), deliveries, answers }
    if (waits || answers.length > 0) return commit(item, answer, mode)
    if (item.event !== undefined) audit.add(item)
    if (audit.isBehind()) await audit.settled()
    return answer
  }

  const release = (journey: Journey): Pick<AuditItem, 'event'> => {
    const { held } = journey
    journey.released = true
    return held === undefined ? {} : { event: written(held, journey) }
  }

  /** Writes the record with what it queues. A gate that cannot be recorded although it must be is closed. */
  const commit = async (item: AuditItem, answer: DispatchAnswer, mode: string): Promise<DispatchAnswer> => {
    try {
      await audit.commit(item)
    } catch (thrown) {
      if (mode === 'gate') return answerOf(answer.eventId, unrecorded())
      throw thrown
    }
    if (item.deliveries?.length) parts.wakeDeliveries()
    return answer
  }

  /** Or why there is none. */
  const snapshotOf = async (
    tenant: string,
    event: string,
    folder: WorkPlace | undefined,
  ): Promise<Snapshot | string> => {
    try {
      return await snapshots.of(tenant, folder)
    } catch (thrown) {
      log('security.hook.resolve_error', { tenant, event, error: errorText(thrown) })
      if (catalogue[event as keyof typeof catalogue].mode === 'observe') throw thrown
      const isFile = isHookError(thrown) && thrown.code.startsWith('config.')
      return isFile ? thrown.message : 'the hooks of this tenant cannot be loaded'
    }
  }

  return {
    sinkOf,
    async dispatch(caller, given, how = {}) {
      const event = resolve(given.event) as keyof typeof catalogue
      const { payload, idempotency_key } = given
      const now = clock.now()
      const said = completeEnvelope(caller, given.envelope ?? {}, how.time ?? now)
      const key = idempotency_key ?? said.id
      if (key === undefined)
        return run({ ...given, event, envelope: { ...said, id: timeUuid(now) } }, how, undefined)
      const hash = identityOf(event, payload, said)
      // An id that comes a second time for another event must not hide that one behind the record of the first.
      const id = said.id === undefined ? timeUuid(now) : `${said.id}:${hash.slice(0, 12)}`
      const request = { ...given, event, envelope: { ...said, id } }
      const repeat = { tenant: caller.tenant, key, hash }
      return repeats.once(repeat, async () => {
        const isDurable = idempotency_key !== undefined || catalogue[event].mode === 'observe'
        const kept = isDurable ? await repeats.kept(repeat) : undefined
        // Whoever repeats it waits for the same answer, so nobody alone can abort it.
        const { signal: _, ...lasting } = how
        return kept ?? run(request, lasting, repeat)
      })
    },
    async deliver(tenant, { hook, event, payload, envelope: given, folder }, attempt) {
      const snapshot = await snapshots.of(tenant, folder)
      const row = snapshot.find(hook)
      if (row === undefined) return 'gone'
      if (!row.enabled) return 'off'
      const journey: Journey = { tenant, text: undefined, attempt, find: snapshot.find, released: false }
      const envelope = { ...given, [JOURNEY]: journey }
      const { trace } = await snapshot.hooks.dispatch(event as 'session_end', payload as never, envelope, {
        only: hook,
        trace: true,
      })
      // Before the delivery ends: after a crash in between it is done again, and its record is not lost.
      const item = release(journey)
      if (item.event !== undefined) await audit.commit(item).catch(() => audit.add(item))
      const execution = trace?.hooks.find((seen) => seen.hook === hook)?.executions[0]
      if (execution === undefined) return 'missed'
      const { decision, code, reason, facts } = execution
      return { decision, code, reason, status: facts?.http_status, handlerType: row.handler_type }
    },
  }
}

/** The record, made and told as spans once, however often its group has to be written. */
function written(record: DispatchRecord, journey: Journey): () => EventRecord {
  let made: EventRecord | undefined
  return () => {
    if (made !== undefined) return made
    made = toEventRecord(record, journey)
    emitSpans(made, record.envelope.traceparent)
    return made
  }
}

function withoutTrace({ trace: _, ...decision }: Decision): Decision {
  return decision
}

/** Nobody knows the hooks: a gate closes, a transform keeps what it has. */
function unresolved(mode: string, reason: string): Decision {
  return mode === 'gate'
    ? { kind: 'block', reason, message: reason, code: 'store.unavailable' }
    : { kind: 'allow', reason, code: 'store.unavailable' }
}

function unrecorded(): Decision {
  const reason = 'the decision cannot be recorded'
  return { kind: 'block', reason, message: reason, code: 'store.unavailable' }
}
