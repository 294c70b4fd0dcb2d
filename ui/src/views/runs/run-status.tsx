import {
  IconCheck,
  IconClock,
  IconExclamationCircle,
  IconFishHook,
  IconOctagonFilled,
  IconPlayerPlay,
  IconPlayerStop,
  IconSquare,
  IconTransfer,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { pointOfEvent } from '../../../../src/runs/hooks/run-hook-points.ts'
import type { Result } from '../../gateway/call.ts'
import { formatDuration, plural, shortenId } from '../../parts/format.ts'
import styles from './run-status.module.css'

export type RunSummary = Result<'runs.list'>['runs'][number]
export type RunDetail = Result<'runs.show'>['run']
export type AwaitedApproval = Result<'runs.show'>['waits_for'][number]

const icons = {
  pending: IconClock,
  preparing: IconFishHook,
  claimed: IconTransfer,
  running: IconPlayerPlay,
  stopping: IconPlayerStop,
  completed: IconCheck,
  failed: IconExclamationCircle,
  blocked: IconOctagonFilled,
  stopped: IconSquare,
} as const

export type ShownStatus = keyof typeof icons

/** A run that a hook refused has failed; people look for the block. */
export function shownStatus({
  status,
  block_reason,
}: Pick<RunSummary, 'status' | 'block_reason'>): ShownStatus {
  return block_reason === null ? status : 'blocked'
}

export function hasEnded({ completed_at }: Pick<RunSummary, 'completed_at'>): boolean {
  return completed_at !== null
}

interface RunStatusProps {
  readonly run: Pick<RunSummary, 'status' | 'block_reason'>
  /** Instead of the status in words, which then is only in the title. */
  readonly children?: ReactNode
}

/** The status of a run with its own shape, so that colour is never the only sign. */
export function RunStatus({ run, children }: RunStatusProps) {
  const status = shownStatus(run)
  const Icon = icons[status]
  return (
    <span className={`${styles.status} ${styles[status]}`} data-status={status} title={status}>
      <Icon size={14} stroke={2} aria-label={children === undefined ? undefined : status} />
      {children ?? status}
    </span>
  )
}

/** How long a run took; while it runs, since when. */
export function runDuration({ created_at, completed_at }: RunSummary, now: number): string {
  return formatDuration(Math.max(0, (completed_at ?? now) - created_at))
}

/** How many hooks ran, and whether one refused the run. */
export function HookBadge({ run }: Readonly<{ run: Pick<RunSummary, 'hooks' | 'block_reason'> }>) {
  if (run.hooks === 0 && run.block_reason === null) return null
  const isBlock = run.block_reason !== null
  return (
    <span className={`${styles.badge} ${isBlock ? styles.refused : ''}`}>
      <IconFishHook size={13} stroke={2} aria-hidden />
      {isBlock ? 'hook blocked' : plural(run.hooks, 'hook')}
    </span>
  )
}

/** Hooks of blueprints stand at points of a run; all others at events. */
export function pointName(event: string): string {
  return pointOfEvent(event) ?? event
}

/** Why the run exists, in words. */
export function causeOf({ hook_point, parent_run_id, parent_session_id, run_id, type }: RunSummary): string {
  if (hook_point !== null)
    return `${pointName(hook_point)} hook of ${parent_run_id === null ? 'an event' : shortenId(parent_run_id)}`
  if (parent_run_id !== null) return `after ${shortenId(parent_run_id)}`
  if (type === 'resume_session') return `resumed · ${shortenId(run_id)}`
  if (parent_session_id !== null) return `child of ${shortenId(parent_session_id)}`
  return shortenId(run_id)
}

/** The id of a hook tells people nothing in a list. */
export function starterOf(createdBy: string): string {
  if (createdBy.startsWith('hook:')) return 'a hook'
  if (createdBy.startsWith('rule:')) return `rule ${createdBy.slice(5)}`
  return createdBy.startsWith('callback:') ? 'a callback' : createdBy
}
