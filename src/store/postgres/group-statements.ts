import type pg from 'pg'
import type { Links } from '../sql/audit/audit-chain.ts'
import type { SealedAnswer, SealedDelivery, SealedEvent, SealedExecution } from '../sql/audit/audit-group.ts'
import type { NewEntry } from '../sql/audit/journal.ts'
import { batch } from './batch.ts'

/*
 * None has a name: a statement that is prepared once keeps the plan that was good for an almost empty table.
 *
 * Inserts go in the order of their keys, and tables always in the same order: two nodes that write the same things wait for
 * each other, and never in a circle.
 */

/** Sessions are touched by the events that were not there yet. */
export function insertEvents(events: readonly SealedEvent[]): pg.QueryConfig {
  return {
    text: `with written as (
        insert into events (tenant_id, event_id, event, session_id, agent_id, kind, by_hook, code, duration_ms, created_at,
          request, answer, moment)
        select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
          $9::float8[], $10::int8[], $11::text[], $12::text[], $13::text[]) as given (tenant_id, event_id)
        order by tenant_id, event_id
        on conflict do nothing returning tenant_id, session_id, agent_id, created_at)
      insert into sessions as s (tenant_id, session_id, agent_id, first_at, last_at, events)
      select tenant_id, session_id,
        (array_agg(agent_id order by created_at desc) filter (where agent_id is not null))[1],
        min(created_at), max(created_at), count(*)
      from written where session_id is not null group by tenant_id, session_id order by tenant_id, session_id
      on conflict (tenant_id, session_id) do update set agent_id = coalesce(excluded.agent_id, s.agent_id),
        first_at = least(s.first_at, excluded.first_at), last_at = greatest(s.last_at, excluded.last_at),
        events = s.events + excluded.events`,
    values: batch(events, [
      ...(['tenant_id', 'event_id', 'event', 'session_id', 'agent_id', 'kind', 'by_hook', 'code'] as const),
      ...(['duration_ms', 'created_at', 'request', 'answer', 'moment'] as const),
    ]),
  }
}

export function removeEntry(position: number): pg.QueryConfig {
  return { text: 'delete from audit_journal where position = $1', values: [position] }
}

export function appendEntry({ id, events, sealed, created_at }: NewEntry): pg.QueryConfig {
  return {
    text: 'insert into audit_journal (id, events, sealed, created_at) values ($1, $2, $3, $4)',
    values: [id, events, sealed, created_at],
  }
}

/** Sent behind the events: whoever comes second with an event has waited at its key, so this answer is final. */
export function knownExecutions(executions: readonly SealedExecution[]): pg.QueryConfig {
  return {
    // One by one through the index, however small PostgreSQL believes the table to be.
    text: `select h.* from unnest($1::uuid[], $2::text[]) as given (tenant_id, dedup_key), lateral (
        select tenant_id, dedup_key from hook_executions
        where tenant_id = given.tenant_id and dedup_key = given.dedup_key limit 1) h`,
    values: batch(executions, ['tenant_id', 'dedup_key']),
  }
}

/** Held until the commit: none is deleted between this answer and the reference to it. */
export function holdHooks(ids: readonly string[]): pg.QueryConfig {
  return {
    text: 'select id from agent_hooks where id = any($1::uuid[]) order by id for key share',
    values: [ids],
  }
}

export function insertDeliveries(deliveries: readonly SealedDelivery[]): pg.QueryConfig {
  return {
    text: `insert into deliveries
        (id, tenant_id, kind, dedup_key, payload, state, attempts, due_at, created_at, updated_at)
      select id, tenant_id, kind, dedup_key, payload, 'waiting', 0, due_at, created_at, created_at
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::int8[], $7::int8[])
        as given (id, tenant_id, kind, dedup_key, payload, due_at, created_at)
      order by tenant_id, dedup_key on conflict do nothing`,
    values: batch(deliveries, ['id', 'tenant_id', 'kind', 'dedup_key', 'payload', 'due_at', 'created_at']),
  }
}

/** Takes the place of one with the same key that has ended. One statement cannot write a row twice: the first stands. */
export function insertAnswers(answers: readonly SealedAnswer[], now: number): pg.QueryConfig {
  return {
    text: `insert into idempotency as kept (tenant_id, key, request_hash, answer, expires_at)
      select distinct on (tenant_id, key) tenant_id, key, request_hash, answer, expires_at
      from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int8[]) with ordinality
        as given (tenant_id, key, request_hash, answer, expires_at, place)
      order by tenant_id, key, place
      on conflict (tenant_id, key) do update set request_hash = excluded.request_hash, answer = excluded.answer,
        expires_at = excluded.expires_at
      where kept.expires_at <= $6`,
    values: [...batch(answers, ['tenant_id', 'key', 'request_hash', 'answer', 'expires_at']), now],
  }
}

export interface LinkedExecution extends Omit<SealedExecution, 'hook_id'> {
  readonly hook_id: string | null
  readonly chain: string
  readonly seq: number
  readonly mac: Uint8Array
}

/** In the order of the chain; a key that is there makes it fail, and the whole group with it. */
export function insertExecutions(executions: readonly LinkedExecution[]): pg.QueryConfig {
  return {
    text: `insert into hook_executions
        (id, tenant_id, hook_id, event_id, event, handler_type, session_id, agent_id, input_hash, decision, duration_ms,
         retry, dedup_key, code, error, error_detail, shadow, metadata, created_at, chain, seq, mac)
      select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::float8[], $12::int8[], $13::text[], $14::text[], $15::text[], $16::text[], $17::bool[],
        $18::jsonb[], $19::int8[], $20::uuid[], $21::int8[], $22::bytea[])`,
    values: batch(executions, [
      ...([
        'id',
        'tenant_id',
        'hook_id',
        'event_id',
        'event',
        'handler_type',
        'session_id',
        'agent_id',
      ] as const),
      ...([
        'input_hash',
        'decision',
        'duration_ms',
        'retry',
        'dedup_key',
        'code',
        'error',
        'error_detail',
      ] as const),
      ...(['shadow', 'metadata', 'created_at', 'chain', 'seq', 'mac'] as const),
    ]),
  }
}

export function moveHead(links: Links): pg.QueryConfig {
  return {
    text: 'update audit_chains set head_seq = $2, head_link = $3, head_mac = $4 where chain = $1',
    values: [links.chain, links.seq, links.link, links.headMac()],
  }
}
