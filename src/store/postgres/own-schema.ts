import type pg from 'pg'
import { HINT_CHANNEL } from './hints.ts'

/**
 * What only PostgreSQL needs. Rows become visible in another order than they got their position, so a tail asks which
 * transaction wrote them; and whoever writes a version announces it, tenant and version and no more.
 */
const statements: readonly (readonly [present: string, create: string])[] = [
  [
    "select from pg_attribute where attrelid = 'hook_executions'::regclass and attname = 'written_by'",
    'alter table hook_executions add column written_by xid8 not null default pg_current_xact_id()',
  ],
  [
    "select from pg_class where relname = 'executions_by_writer' and relnamespace = current_schema()::regnamespace",
    'create index executions_by_writer on hook_executions (tenant_id, written_by, position)',
  ],
  [
    "select from pg_proc where proname = 'hint_definitions' and pronamespace = current_schema()::regnamespace",
    `create function hint_definitions() returns trigger language plpgsql as $$ begin
       perform pg_notify('${HINT_CHANNEL}', new.tenant_id || ' ' || new.version);
       return null;
     end $$`,
  ],
  [
    "select from pg_trigger where tgrelid = 'definition_versions'::regclass and tgname = 'hint_definitions'",
    `create trigger hint_definitions after insert or update on definition_versions
       for each row execute function hint_definitions()`,
  ],
]

/** Looks before it changes anything: each change waits for the work of other nodes, and holds it up. */
export async function ownSchema(owner: pg.ClientBase): Promise<void> {
  for (const [present, create] of statements) {
    const { rows } = await owner.query(`select exists (${present}) as there`)
    if (!rows[0].there) await owner.query(create)
  }
}
