import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../engine/core/schema/check.ts'
import { stableJson } from '../../engine/core/values/stable-json.ts'
import { redact } from '../../safe/secrets/redact.ts'
import type { HookRow } from '../../stored-hooks/hook-tables.ts'
import { hookEvent, type RunHookEventType, type RunHookFacts } from '../run-events.ts'
import type { RunParts } from '../run-parts.ts'
import type { RunRow } from '../stored/run-tables.ts'
import { pointOfEvent, type RunHookPoint } from './run-hook-points.ts'
import { hookTarget } from './run-hooks.ts'

/** One execution of a hook, as its handler knows it. */
export interface HookExecution {
  readonly tenant: string
  readonly event: string
  readonly run_id: string | undefined
  readonly hook_id: string | undefined
  /** The event that caused it, and what the hook got. */
  readonly event_id: string
  readonly input: unknown
}

type MoreFacts = Pick<RunHookFacts, 'hook_session_id'>

/** What a hook changed: what it got, and what it made of it. */
export interface RunInputChange {
  readonly before: unknown
  readonly after: Readonly<Record<string, unknown>>
}

/** Writes what one execution of a run hook does into the session of its run. Repeating a call writes nothing more. */
export interface RunHookReport {
  /** The run that the hook is about; undefined for hooks on other events, which write nothing. */
  readonly run: RunRow | undefined
  readonly point: RunHookPoint | undefined
  readonly hook: HookRow | undefined
  /** Separates several executions of a hook in one run. */
  readonly occasion: string
  started(facts?: MoreFacts): Promise<void>
  continued(change: RunInputChange | undefined, facts?: MoreFacts): Promise<void>
  blocked(reason: string, facts?: MoreFacts): Promise<void>
  failed(failure: HookFailure, facts?: MoreFacts): Promise<void>
}

export interface HookFailure {
  readonly error: string
  readonly isTimeout?: boolean
}

export interface RunHookReports {
  open(execution: HookExecution): Promise<RunHookReport>
  /** Whether the hook ran for this run, so that it reports its end itself. */
  hasBegun(runId: string, hookId: string): boolean
  /** Forgets which hooks ran for this run. */
  forget(runId: string): void
}

type ReportParts = Pick<RunParts, 'store' | 'events' | 'clock'>

export function createRunHookReports(parts: ReportParts): RunHookReports {
  const begun = new Map<string, Set<string>>()
  return {
    async open(execution) {
      const { tenant, run_id, hook_id = '', event } = execution
      const point = pointOfEvent(event)
      // Noted at once: the dispatch may end before this hook has reported anything.
      if (run_id !== undefined && (event === 'run_start' || event === 'run_result'))
        begun.set(run_id, (begun.get(run_id) ?? new Set()).add(hook_id))
      const run = run_id === undefined ? undefined : await parts.store.findRun(tenant, run_id)
      const hook = hook_id === '' ? undefined : await parts.store.findHook(tenant, hook_id)
      // Other hooks on tool calls are no hooks of the run.
      const isOther = point === undefined || (point === 'on_tool_call' && hook?.source !== 'blueprint')
      return createReport(parts, execution, {
        ...{ hook, occasion: occasionOf(execution, run) },
        ...(isOther ? { run: undefined, point: undefined } : { run, point }),
      })
    },
    hasBegun: (runId, hookId) => begun.get(runId)?.has(hookId) ?? false,
    forget: (runId) => void begun.delete(runId),
  }
}

function createReport(
  { store, events, clock }: ReportParts,
  { hook_id = '', event }: HookExecution,
  { run, point, hook, occasion }: Pick<RunHookReport, 'run' | 'point' | 'hook' | 'occasion'>,
): RunHookReport {
  const begun = clock.now()
  const isAwaited = hook?.shadow !== true
  const write = async (
    type: RunHookEventType,
    facts: Omit<RunHookFacts, 'hook_type' | 'target_type' | 'target_name'>,
  ) => {
    if (run === undefined || point === undefined) return
    const target_name = hook === undefined ? hook_id : hookTarget(hook)
    const target = { hook_type: point, target_type: hook?.handler_type ?? 'agent', target_name }
    const id = [run.run_id, hook_id, event, occasion, type].filter((part) => part !== '').join('-')
    await events
      .append(run, [hookEvent(type, { ...target, ...facts }, id)])
      .catch(async (thrown: unknown) => {
        // A session that was deleted meanwhile takes no report.
        if ((await store.findRun(run.tenant_id, run.run_id)) !== undefined) throw thrown
      })
  }
  return {
    ...{ run, point, hook, occasion },
    started: (facts = {}) => write('hook_start', facts),
    continued: (change, facts = {}) =>
      write('hook_complete', {
        ...facts,
        duration_ms: clock.now() - begun,
        action: 'continue',
        ...(change === undefined || !isAwaited ? {} : changeFacts(change, point)),
      }),
    blocked(reason, facts = {}) {
      const common = {
        ...facts,
        duration_ms: clock.now() - begun,
        action: 'block',
        block_reason: reason,
      } as const
      // Nothing waited for it, so nothing is blocked.
      return write(isAwaited ? 'hook_blocked' : 'hook_complete', common)
    },
    failed({ error, isTimeout = false }, facts = {}) {
      const seconds = Math.round((hook?.timeout_ms ?? 0) / 1_000)
      return write('hook_failed', {
        ...facts,
        duration_ms: clock.now() - begun,
        error: isTimeout ? `Hook timed out after ${seconds}s` : redact(error),
        on_error_behavior: isAwaited && hook?.on_error !== 'allow' ? 'block' : 'continue',
      })
    },
  }
}

/**
 * What separates two executions of a hook in one run: an answer about one result or tool call must not be used for another.
 * The hooks at all other points run once.
 */
function occasionOf({ event, event_id, input }: HookExecution, run: RunRow | undefined): string {
  if (event === 'pre_tool_use') return event_id
  if (event !== 'run_result') return ''
  const result = isRecord(input) ? input.result : undefined
  const digest = createHash('sha256')
    .update(stableJson(result ?? null))
    .digest('hex')
  return `${run?.attempts ?? 0}-${digest.slice(0, 12)}`
}

/** The original result is not repeated: a hook may have removed what nobody should see. */
function changeFacts({ before, after }: RunInputChange, point: RunHookPoint | undefined) {
  const changed_fields = changedFields(isRecord(before) ? before : {}, after)
  return point === 'on_result' ? { changed_fields } : { changed_fields, original: before, changed: after }
}

function changedFields(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.filter((name) => !isDeepStrictEqual(before[name] ?? null, after[name] ?? null))
}
