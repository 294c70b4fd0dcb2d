import type { Log } from '../../engine/core/records/sink.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { Edition } from '../../engine/core/values/edition.ts'
import type { Coordinator } from '../../runs/coordinator.ts'
import type { RunStore } from '../../runs/stored/run-tables.ts'
import type { RecoveryAction, RecoveryActionType } from '../files/rule-schema.ts'
import type { FiringContent } from '../fire-rules.ts'
import type { RuleStore } from '../stored/rule-tables.ts'
import type { ActionOutcome } from './run-action.ts'
import type { RunHandler } from './run-handler.ts'
import type { EnvironmentProcesses } from './warm-capacity.ts'

/** What a tenant allows its rules. */
export interface RuleSettings {
  /** The team of messages that name none. */
  readonly defaultTeam?: string
  /** The permission `allow_remote_sessions`. */
  readonly allowsRemoteSessions: boolean
  /** The tools that a fallback agent may have at most if no failed run limits them. */
  readonly fallbackTools: readonly string[]
  /** Models for the names `haiku`, `sonnet` and `opus`. */
  readonly modelAliases: Readonly<Record<string, string>>
}

export interface RuleActionParts {
  readonly store: RuleStore & Pick<RunStore, 'findRun' | 'findBlueprint'>
  readonly runs: () => Pick<Coordinator, 'start'>
  readonly edition: Edition
  readonly clock: Clock
  readonly log: Log
  readonly runHandler: RunHandler
  readonly processes: EnvironmentProcesses
  settingsOf(tenant: string): RuleSettings
  /** The environment that `createDefaultEnvironmentIfMissing` creates; undefined if this gateway has none to offer. */
  defaultEnvironment(): Readonly<Record<string, unknown>> | undefined
  wakeDeliveries(): void
}

/** One action of a firing. */
interface FiringActionCall extends FiringContent {
  readonly tenant: string
  readonly firingId: string
  readonly position: number
  readonly action: RecoveryAction
}

/** One action of a firing, of one type if given. */
export type RuleActionCall<Type extends RecoveryActionType = RecoveryActionType> = FiringActionCall & {
  readonly action: Extract<RecoveryAction, { type: Type }>
}

/** How an action ended, and the run that it started. */
export interface RuleActionResult extends ActionOutcome {
  readonly runId?: string
}

/** Finds the same run again when a delivery is repeated. */
export function actionKey({ firingId, position }: RuleActionCall): string {
  return `rule:${firingId}:${position}`
}
