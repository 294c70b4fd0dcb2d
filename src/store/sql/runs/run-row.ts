import type { Selectable } from 'kysely'
import { parseStoredJson } from '../../../safe/json.ts'
import type { SealedPath, Secrets } from '../../../safe/secret.ts'
import { runEventPath, runPath } from '../../paths.ts'
import {
  type NewRun,
  type NewRunEvent,
  type RunDemands,
  type RunEventRow,
  type RunOverrides,
  type RunRow,
  type RunSessionRow,
  runStatuses,
} from '../../stores/run-store.ts'
import { openSealed } from '../audit/event-queries.ts'
import { readUnion } from '../column-values.ts'
import type { Tables } from '../tables.ts'
import { demandKeys } from './demand-keys.ts'

/** A run as its columns hold it. */
export type StoredRun = Selectable<Tables['runs']>

const types = ['start_session', 'resume_session'] as const
const executionModes = ['sync', 'async_poll', 'async_callback'] as const
const sessionStatuses = ['pending', 'running', 'idle', 'finished', 'failed', 'stopped'] as const

const UNREADABLE = 'The text cannot be read: the key that sealed it is gone.'

type Content = Readonly<Record<string, unknown>>

/** The columns that the caller of `createRun` decides. */
export function writeRun(secrets: Secrets, run: NewRun) {
  const { run_id, tenant_id, session_id, type, agent_name, project_dir, parent_session_id } = run
  const { parent_run_id, execution_mode, hook_point, depth, key, created_by, claim_within_ms } = run
  return {
    ...{ run_id, tenant_id, session_id, type, agent_name, project_dir, parent_session_id },
    ...{ parent_run_id, execution_mode, hook_point, depth, key, created_by, claim_within_ms },
    ...demandKeys(run.demands),
    demands: JSON.stringify(run.demands),
    overrides: run.overrides === undefined ? null : JSON.stringify(run.overrides),
    parameters: sealRunParameters(secrets, run, 'parameters'),
  }
}

type RunKey = Pick<RunRow, 'tenant_id' | 'run_id'>

export function sealRunParameters(
  secrets: Secrets,
  run: RunKey & { readonly parameters: Content },
  column: 'parameters' | 'original_parameters',
): string {
  return secrets.encrypt(JSON.stringify(run.parameters), runPath(run.tenant_id, run.run_id, column))
}

export function sealRunText(
  secrets: Secrets,
  { tenant_id, run_id }: RunKey,
  { column, text }: { readonly column: 'error' | 'block_reason'; readonly text: string | undefined },
): string | null {
  return text === undefined ? null : secrets.encrypt(text, runPath(tenant_id, run_id, column))
}

export function readRun(secrets: Secrets, row: StoredRun): RunRow {
  const { tenant_id, run_id } = row
  const path = (column: Parameters<typeof runPath>[2]) => runPath(tenant_id, run_id, column)
  return {
    run_id,
    tenant_id,
    session_id: row.session_id,
    type: readUnion(types, row.type),
    agent_name: row.agent_name,
    parameters: openContent(secrets, row.parameters, path('parameters')),
    original_parameters: openContent(secrets, row.original_parameters, path('original_parameters')),
    project_dir: row.project_dir,
    parent_session_id: row.parent_session_id,
    parent_run_id: row.parent_run_id,
    execution_mode: readUnion(executionModes, row.execution_mode),
    demands: readDemands(row.demands),
    hook_point: row.hook_point,
    depth: row.depth,
    created_by: row.created_by,
    status: readUnion(runStatuses, row.status),
    is_prepared: Boolean(row.is_prepared),
    runner_id: row.runner_id,
    attempts: row.attempts,
    error: openText(secrets, row.error, path('error')),
    block_reason: openText(secrets, row.block_reason, path('block_reason')),
    timed_out: Boolean(row.timed_out),
    hooks: row.hooks,
    created_at: row.created_at,
    claimed_at: row.claimed_at,
    started_at: row.started_at,
    completed_at: row.completed_at,
    ...(row.overrides === null ? {} : { overrides: readOverrides(row.overrides) }),
  }
}

export function readRunSession(row: Tables['run_sessions']): RunSessionRow {
  return { ...row, status: readUnion(sessionStatuses, row.status) }
}

export function writeRunEvent(secrets: Secrets, event: NewRunEvent) {
  const { tenant_id, event_id, session_id, run_id, event_type, created_at } = event
  const data = secrets.encrypt(JSON.stringify(event.data), runEventPath(tenant_id, event_id))
  return { tenant_id, event_id, session_id, run_id, event_type, created_at, data }
}

export function readRunEvent(secrets: Secrets, row: Tables['run_events']): RunEventRow {
  return {
    ...row,
    position: String(row.position),
    data: openContent(secrets, row.data, runEventPath(row.tenant_id, row.event_id)),
  }
}

function openContent(secrets: Secrets, sealed: string | null, path: SealedPath): Content | null {
  const text = sealed === null ? undefined : openSealed(secrets, sealed, path)
  return text === undefined ? null : (parseStoredJson(text) as Content)
}

function openText(secrets: Secrets, sealed: string | null, path: SealedPath): string | null {
  return sealed === null ? null : (openSealed(secrets, sealed, path) ?? UNREADABLE)
}

function readOverrides(stored: string): RunOverrides {
  return JSON.parse(stored) as RunOverrides
}

function readDemands(stored: string): RunDemands {
  return JSON.parse(stored) as RunDemands
}
