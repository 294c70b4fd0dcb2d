import { randomUUID } from 'node:crypto'
import type { NewDelivery } from '../../src/deliveries/delivery-table.ts'
import type { EventRecord, ExecutionRecord } from '../../src/history/audit-tables.ts'
import type { NewFiring } from '../../src/rules/stored/rule-tables.ts'
import type { BlueprintHook, NewRun, NewRunEvent } from '../../src/runs/stored/run-tables.ts'
import type { Keyring } from '../../src/safe/secrets/secret.ts'
import type { Store } from '../../src/store/store.ts'
import type { NewHook } from '../../src/stored-hooks/hook-tables.ts'
import type { NewMailboxMessage } from '../../src/teams/team-tables.ts'

/** A store on a fresh database. */
export interface StoreUnderTest {
  readonly store: Store
  /** Opens another node on the same database, with another keyring if given. */
  reopen(keyring?: Keyring): Promise<Store>
  /** Runs a statement directly on the database, as an attacker could, after all recorded events are in rows. */
  execute(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Closes all nodes and removes the database. */
  dispose(): Promise<void>
}

/** Opens a store on a fresh database, with `keyring`. */
export type OpenStoreUnderTest = () => Promise<StoreUnderTest>

export const keyring: Keyring = { current: { id: 'k1', key: '11'.repeat(32) } }
export const rotated: Keyring = {
  current: { id: 'k2', key: '22'.repeat(32) },
  others: [keyring.current],
}
export const otherKeyring: Keyring = { current: { id: 'k9', key: '99'.repeat(32) } }

/** 2026-03-15, noon. */
export const NOON = Date.UTC(2026, 2, 15, 12)

export async function newTenant(store: Store): Promise<string> {
  const id = randomUUID()
  await store.createTenant({ id, name: `tenant ${id}`, created_at: NOON })
  return id
}

export function hook(tenant_id: string, fields: Partial<NewHook> = {}): NewHook {
  return {
    id: randomUUID(),
    tenant_id,
    scope: 'tenant',
    agent_ids: [],
    event: 'pre_tool_use',
    handler_type: 'http',
    config: { url: 'https://example.com' },
    priority: 0,
    enabled: true,
    source: 'user',
    created_by: null,
    ...fields,
  }
}

export function execution(event_id: string, fields: Partial<ExecutionRecord> = {}): ExecutionRecord {
  const hook_id = fields.hook_id ?? randomUUID()
  return {
    hook_id,
    handler_type: 'http',
    decision: 'allow',
    duration_ms: 1.25,
    retry: 0,
    dedup_key: `${hook_id}:${event_id}`,
    code: null,
    error: null,
    error_detail: null,
    shadow: false,
    metadata: {},
    ...fields,
  }
}

export function event(
  tenant: string,
  {
    hooks = [],
    ...fields
  }: Partial<EventRecord> & { readonly hooks?: readonly Partial<ExecutionRecord>[] } = {},
): EventRecord {
  const event_id = fields.event_id ?? randomUUID()
  return {
    tenant,
    event_id,
    event: 'pre_tool_use',
    time: NOON,
    session_id: null,
    agent_id: null,
    kind: 'allow',
    by_hook: null,
    code: null,
    duration_ms: 2.5,
    request: JSON.stringify({ event: 'pre_tool_use', payload: { tool_name: 'Bash', tool_input: {} } }),
    answer: '{"kind":"allow"}',
    executions: hooks.map((execution_) => execution(event_id, execution_)),
    ...fields,
  }
}

export function delivery(tenant: string, kind: string, fields: Partial<NewDelivery> = {}): NewDelivery {
  const id = randomUUID()
  return { id, tenant, kind, dedup_key: id, payload: '{"n":1}', due_at: NOON, created_at: NOON, ...fields }
}

/** Messages differ by dialect; codes do not. */
export function coded(code: string) {
  return { code }
}

export function blueprintHook(fields: Partial<BlueprintHook> = {}): BlueprintHook {
  return {
    id: randomUUID(),
    event: 'run_start',
    handler_type: 'http',
    config: { url: 'https://example.com' },
    priority: 0,
    enabled: true,
    created_by: null,
    ...fields,
  }
}

export function newRun(tenant_id: string, fields: Partial<NewRun> = {}): NewRun {
  return {
    run_id: `run_${randomUUID()}`,
    tenant_id,
    session_id: `ses_${randomUUID()}`,
    type: 'start_session',
    agent_name: 'writer',
    parameters: { text: 'hello' },
    project_dir: null,
    parent_session_id: null,
    parent_run_id: null,
    execution_mode: 'async_poll',
    demands: {},
    hook_point: null,
    depth: 0,
    key: null,
    created_by: 'ci',
    claim_within_ms: 300_000,
    ...fields,
  }
}

type NewRunner = Parameters<Store['registerRunner']>[0]

export function newRunner(tenant_id: string, fields: Partial<NewRunner> = {}): NewRunner {
  return {
    runner_id: `lnch_${randomUUID()}`,
    tenant_id,
    hostname: 'host',
    project_dir: '/project',
    executor_profile: 'default',
    executor_type: 'procedural',
    tags: [],
    require_matching_tags: false,
    registered_by: 'runner token',
    ...fields,
  }
}

export function runEvent(run: Pick<NewRun, 'tenant_id' | 'session_id' | 'run_id'>, fields = {}): NewRunEvent {
  const { tenant_id, session_id, run_id } = run
  return {
    event_id: randomUUID(),
    ...{ tenant_id, session_id, run_id },
    event_type: 'message',
    created_at: NOON,
    data: { text: 'hello' },
    ...fields,
  }
}

export function firing(tenant_id: string, fields: Partial<NewFiring> = {}): NewFiring {
  const firing_id = fields.firing_id ?? randomUUID()
  return {
    firing_id,
    tenant_id,
    rule_id: 'recover',
    source: 'stored',
    event_id: randomUUID(),
    event: 'run_finish',
    outcome: 'failed',
    session_id: null,
    run_id: null,
    depth: 0,
    content: { payload: { error: 'boom' } },
    cooldown: { key: 'rule|recover', windowMs: 30_000 },
    actions: [
      {
        action_id: 'spawn',
        action_type: 'spawn_fallback_agent',
        enabled: true,
        dedup: { key: `spawn|${firing_id}`, windowMs: 10_000 },
      },
    ],
    delivery: delivery(tenant_id, 'rule_actions', { dedup_key: firing_id, due_at: NOON }),
    ...fields,
  }
}

export function message(fields: Partial<NewMailboxMessage> = {}): NewMailboxMessage {
  return {
    message_id: randomUUID(),
    team: 'mesh',
    member: 'ada',
    firing_id: null,
    content: { from: 'rule', summary: 'failed', text: 'it failed' },
    ...fields,
  }
}
