import type { Envelope, HookContext } from '../core/context.ts'
import type { Failure, HookId } from '../core/decision.ts'
import type { ErrorCode } from '../core/errors/error-table.ts'
import type { EventRow, Policy } from '../core/event.ts'
import type { GuardRequest } from '../core/guard-state.ts'
import type { Handler, Host } from '../core/handler.ts'
import type { HookHealth } from '../guard/breaker.ts'
import { readExpiry } from '../guard/expiry.ts'
import { guardsOf } from '../guard/guards.ts'
import { type HookDefinition, readHandlerConfig } from '../hook-definition.ts'
import type { Matcher } from '../match/matcher.ts'
import { compileMatcher } from '../match/matcher.ts'
import { ticksFor } from './deadline-timer.ts'

/** Calls the handler of a hook. */
export type Run = (payload: unknown, context: HookContext) => unknown

/** A hook ready to run. Everything that a dispatch needs to know is computed here once, at registration. */
export interface CompiledHook {
  readonly id: HookId
  readonly event: string
  readonly definition: HookDefinition
  readonly matcher: Matcher
  readonly run: Run
  readonly timeoutMs: number
  readonly ticks: number
  readonly timeoutCode: ErrorCode
  /** What each kind of failure means for a gate. */
  readonly policies: Readonly<Record<Failure, Policy>>
  readonly guards: ((payload: unknown, context: HookContext) => readonly GuardRequest[]) | undefined
  /** How many verdicts the guard state must return. */
  readonly guardCount: number
  readonly shadow: boolean
  /** Runs again if the input changes after it: locked hooks, and hooks with `recheck`. */
  readonly seesFinalInput: boolean
  /** The breaker, and not a person, switched the hook off after failures of this kind. */
  readonly trippedBy: Failure | undefined
  /** From then on the hook is skipped: milliseconds since 1970. */
  readonly expiresAt: number | undefined
  /** Has no condition or guard to evaluate before it runs, as most hooks. */
  readonly plain: boolean
  /** The hook belongs to this folder, which the call touches from elsewhere: it may only block or ask. */
  readonly otherFolder: string | undefined
  /** Failures in a row, counted by the breaker, and their kind. */
  readonly health: HookHealth & { because: Failure }
}

/** What a hook has beside its definition. */
interface HookSource extends Pick<CompiledHook, 'run'> {
  readonly timeoutCode?: ErrorCode | undefined
  readonly otherFolder?: string | undefined
}

export function compileHook(
  definition: HookDefinition,
  row: EventRow,
  { run, timeoutCode = 'handler.timeout', otherFolder }: HookSource,
): CompiledHook {
  const matcher = compileMatcher(definition, definition.event)
  const timeoutMs = definition.timeout_ms ?? row.timeoutMs
  const guards = guardsOf(definition)
  const { expires_at } = definition
  const expiresAt = expires_at === undefined ? undefined : readExpiry(expires_at)
  const shadow = definition.shadow ?? false
  const seesFinalInput =
    row.mode === 'gate' && !shadow && (definition.locked === true || definition.recheck === true)
  const { enabled, disabled_reason, tripped_by = 'error' } = definition
  const trippedBy = enabled === false && disabled_reason === 'breaker' ? tripped_by : undefined
  const { on_error = row.onFailure, on_timeout = row.onFailure, on_invalid = row.onFailure } = definition
  return {
    id: definition.id ?? '',
    event: definition.event,
    definition,
    matcher,
    run,
    timeoutMs,
    ticks: ticksFor(timeoutMs),
    timeoutCode,
    policies: { error: on_error, timeout: on_timeout, invalid: on_invalid },
    guards: guards?.ask,
    guardCount: guards?.count ?? 0,
    shadow,
    seesFinalInput,
    trippedBy,
    expiresAt,
    otherFolder,
    plain:
      matcher.when === undefined &&
      !matcher.readsEffects &&
      guards === undefined &&
      expiresAt === undefined &&
      !shadow &&
      !seesFinalInput &&
      !trippedBy,
    health: { failures: 0, times: [], because: 'error' },
  }
}

/** The envelope as the conditions of a hook see it: `./` in a hook of another folder means that folder. */
export function envelopeFor({ otherFolder }: CompiledHook, envelope: Envelope): Envelope {
  return otherFolder === undefined ? envelope : { ...envelope, project: otherFolder }
}

/** Binds a handler to the config of one hook; throws a coded error for a config that it cannot use. */
export function bindHandler(handler: Handler, hook: HookDefinition, host: Host): Run {
  const config = readHandlerConfig(handler, hook)
  return (payload, context) => handler.run({ config, payload, context, host, hook })
}
