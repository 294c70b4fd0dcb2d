import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../core/clock.ts'
import { HookError } from '../core/error.ts'
import { type EventRows, isEventRow } from '../core/event.ts'
import type { GuardState } from '../core/guard-state.ts'
import type { Handler, Host } from '../core/handler.ts'
import type { Log, Sink } from '../core/sink.ts'
import { catalogue } from '../events/catalogue.ts'
import { eventNames } from '../events/names.ts'
import { type BreakerSettings, countFailure, defaultBreaker } from '../guard/breaker.ts'
import { memoryGuardState } from '../guard/memory-state.ts'
import type { HookDefinition } from '../hook-definition.ts'
import type { Engine } from './engine.ts'
import { Registry } from './registry.ts'
import { watchdog } from './watchdog.ts'
import { Wheel } from './wheel.ts'

export interface HooksOptions<E extends EventRows> {
  /** Events of your own, beside the catalogue. */
  readonly events?: E
  /** Handlers for hooks that are added as data. */
  readonly handlers?: readonly Handler[]
  readonly host?: Host
  readonly sink?: Sink
  readonly log?: Log
  readonly guards?: GuardState
  readonly clock?: Clock
  /** Told when the breaker switched a hook off, so that this can be kept. */
  readonly tripped?: (hook: HookDefinition) => void
  /** When a hook that keeps failing is switched off; `false` never does. */
  readonly breaker?: Partial<BreakerSettings> | false
  /** How many dispatches may cause one another. */
  readonly maxDepth?: number
  /** How long all hooks of one dispatch may take together; never less than the longest single timeout. */
  readonly budgetMs?: number
  /** Names a handler on stderr that keeps the thread busy for more than a second; costs a thread. */
  readonly watchdog?: boolean
}

// A gateway has a set of hooks per tenant; what is the same for all of them is made once.
const ordinaryNames = eventNames(catalogue)
// Sets of hooks on the system clock share one timer.
const systemWheel = new Wheel(systemClock)

/** Puts the parts of one set of hooks together. */
export function assemble<E extends EventRows>(
  options: HooksOptions<E>,
): { engine: Engine; registry: Registry } {
  const clock = options.clock ?? systemClock
  const maxDepth = within('maxDepth', options.maxDepth ?? 3, 0, 1_000)
  const budgetMs = within('budgetMs', options.budgetMs ?? 10_000, 1, 600_000)
  const log = quiet(options.log)
  const rows = allRows(options.events)
  const engine: Engine = {
    clock,
    wheel: clock === systemClock ? systemWheel : new Wheel(clock),
    sink: options.sink,
    log,
    guards: options.guards ?? memoryGuardState(),
    maxDepth,
    budgetMs,
    failed: (hook, how, code) => count.failed(hook, how, code),
    answered: (hook, kind) => count.answered(hook, kind),
    detached: new Set(),
    newId: randomUUID,
  }
  const registry = new Registry({
    engine,
    rows,
    resolve: options.events === undefined ? ordinaryNames : eventNames(rows),
    handlers: new Map((options.handlers ?? []).map((handler) => [handler.type, handler])),
    host: options.host ?? {},
    watch: options.watchdog ? watchdog() : undefined,
  })
  const count = breaker(options, registry, clock, log)
  return { engine, registry }
}

function allRows(own: EventRows | undefined): EventRows {
  if (own === undefined) return catalogue
  const taken = Object.keys(own).find((name) => Object.hasOwn(catalogue, name))
  if (taken !== undefined)
    throw new HookError('config.event', `${taken} is an event of the catalogue`, { at: taken })
  const stray = Object.entries(own).find(([, row]) => !isEventRow(row))
  if (stray !== undefined)
    throw new HookError('config.event', `${stray[0]} was not made with defineEvent`, { at: stray[0] })
  return { ...catalogue, ...own }
}

/** Counts failures in a row; too many switch the hook off in the next plan. */
function breaker(
  { breaker: given = {}, tripped }: Pick<HooksOptions<EventRows>, 'breaker' | 'tripped'>,
  registry: Registry,
  clock: Clock,
  log: Log,
): Pick<Engine, 'failed' | 'answered'> {
  if (given === false) return { failed() {}, answered() {} }
  const settings = { ...defaultBreaker, ...given }
  const { counts } = settings
  const threshold = within('breaker.threshold', settings.threshold, 1, 1_000_000)
  const windowMs = within('breaker.windowMs', settings.windowMs, 1, 86_400_000)
  const failed: Engine['failed'] = (hook, how, code) => {
    if (!counts.includes(how) || !countFailure(hook.health, clock.now(), settings)) return
    if (!registry.trip(hook)) return
    log('security.hook.circuit_breaker', {
      hook_id: hook.id,
      event: hook.event,
      threshold,
      window_ms: windowMs,
      code,
    })
    tripped?.(hook.definition)
  }
  const answered: Engine['answered'] = (hook, kind) => {
    if (kind === 'block' && counts.includes('block')) failed(hook, 'block', 'guard.breaker')
    else hook.health.failures = 0
  }
  return { failed, answered }
}

/** A log that throws must not take an answer with it. */
function quiet(log: Log | undefined): Log {
  if (log === undefined) return () => {}
  return (name, fields) => {
    try {
      log(name, fields)
    } catch {
      // Nothing to tell and nobody to tell it to.
    }
  }
}

function within(option: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new HookError('config.range', `${option} must be a whole number from ${least} to ${most}`, {
    at: option,
  })
}
