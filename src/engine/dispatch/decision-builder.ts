import {
  type AllowedFailure,
  type Decision,
  type Failure,
  type HookId,
  type IgnoredAnswer,
  type Kind,
  type RewriteStep,
  strictness,
} from '../core/decision.ts'
import type { ErrorCode } from '../core/errors/error-table.ts'
import type { EventRow } from '../core/event.ts'
import type { KindChange } from '../core/records/trace.ts'
import type { HandlerResult } from '../core/result.ts'
import { isRecord } from '../core/schema/check.ts'
import type { HookDefinition } from '../hook-definition.ts'
import type { CompiledHook } from './compiled-hook.ts'
import type { Dispatch } from './dispatch.ts'

/** No objection and nothing to add: the decision of almost every dispatch. */
export const ALLOW: Decision = Object.freeze({ kind: 'allow' })

type ResultFields = Readonly<Record<string, unknown>>

type DecidingHook = Pick<CompiledHook, 'id' | 'definition'>

/** Merges the results of hooks into one decision. Created when the first hook has something to add. */
export class DecisionBuilder {
  kind: Kind = 'allow'
  reason: string | undefined
  message: string | undefined
  code: ErrorCode | undefined
  by: HookId | undefined
  grant = false
  /** The hooks that granted this input, and those that ask about it. */
  grantedBy: HookId[] = []
  readonly askedBy: HookId[] = []
  #people = 0
  fields: ResultFields | undefined
  readonly steps: RewriteStep[] = []
  readonly context: string[] = []
  readonly opened: AllowedFailure[] = []
  readonly ignored: IgnoredAnswer[] = []
  readonly merges: KindChange[] = []

  /**
   * Takes the result over if it is stricter than the decision so far; on a tie the earlier hook wins. Of two that ask, the one
   * that needs more people is stricter.
   */
  decide(result: HandlerResult, hook: DecidingHook | undefined, code?: ErrorCode): void {
    const by = hook?.id
    if (result.kind === 'ask' && by !== undefined) this.askedBy.push(by)
    const people = result.kind === 'ask' ? peopleFor(hook?.definition) : 0
    if ((strictness[result.kind] - strictness[this.kind] || people - this.#people) <= 0) return
    this.merges.push({ hook: by ?? '', from: this.kind, to: result.kind })
    this.#people = people
    this.kind = result.kind
    this.reason = result.reason
    this.message = result.message ?? result.reason
    this.code = code
    this.by = by
  }

  add(row: EventRow, result: HandlerResult, by: HookId): void {
    if (result.grant) {
      this.grant = true
      this.grantedBy.push(by)
    }
    if (result.context) this.context.push(...result.context)
    if (result.fields) this.fields = mergeFields(row, this.fields, result.fields, by)
  }

  open(hook: HookId, because: Failure, code: ErrorCode): void {
    this.opened.push({ hook, because, code })
  }

  /** Drops the block: the event cannot block, or it has blocked too often in a row. */
  ignoreBlock(code: IgnoredAnswer['code']): void {
    this.ignored.push({ hook: this.by ?? '', code, reason: this.reason ?? '' })
    this.kind = 'allow'
    this.reason = undefined
    this.message = undefined
    this.code = undefined
    this.by = undefined
  }

  build(row: EventRow, original: unknown, current: unknown): Decision {
    const blocked = this.kind === 'block'
    const key = !blocked && this.steps.length > 0 ? row.rewrites : undefined
    return {
      kind: this.kind,
      ...(this.reason === undefined ? {} : { reason: this.reason }),
      ...(this.message === undefined ? {} : { message: this.message }),
      ...(this.code === undefined ? {} : { code: this.code }),
      ...(this.by === undefined ? {} : { by: this.by }),
      ...(this.grant && this.kind === 'allow' ? { grant: true } : {}),
      ...(this.grant && this.kind === 'ask'
        ? { granted: { asked_by: this.askedBy, granted_by: this.grantedBy } }
        : {}),
      ...(key === undefined ? {} : { input: valueAt(current, key), original: valueAt(original, key) }),
      ...(this.steps.length > 0 ? { steps: this.steps } : {}),
      ...(this.context.length > 0 && !blocked ? { context: this.context } : {}),
      ...(this.fields === undefined ? {} : { fields: this.fields }),
      ...(this.opened.length > 0 ? { opened: this.opened } : {}),
      ...(this.ignored.length > 0 ? { ignored: this.ignored } : {}),
    }
  }
}

/** The builder of a dispatch, created on first use. */
export function builderOf(dispatch: Dispatch): DecisionBuilder {
  dispatch.builder ??= new DecisionBuilder()
  return dispatch.builder
}

function valueAt(payload: unknown, key: string): unknown {
  return isRecord(payload) ? payload[key] : undefined
}

/** How many people a hook asks. The agent's own dialog counts less than a person. */
function peopleFor({ approvers = 1, ask }: Pick<HookDefinition, 'approvers' | 'ask'> = {}): number {
  return ask === 'host' ? approvers - 0.5 : approvers
}

function mergeFields(
  row: EventRow,
  before: ResultFields | undefined,
  next: ResultFields,
  by: HookId,
): ResultFields {
  if (row.merge !== undefined) return row.merge(before, next, by)
  const merged: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(row.fields)) {
    const value = field.merge.merge(before?.[key], next[key])
    if (value !== undefined) merged[key] = value
  }
  return merged
}
