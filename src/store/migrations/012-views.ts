import { histogramColumns, histogramConditions } from '../sql/views/latency-histogram.ts'
import type { ColumnTypes, MigrationStatement, MigrationStep } from './migration-step.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

/** What the lists, charts and facets read. Nothing here is sealed: every text is redacted before it is recorded. */
export const viewTables: MigrationStep = (types) => [
  ...summaryTable(types),
  ...rollUpTables(types),
  ...sessionColumns(types),
  ...fillFromRecordedEvents(types),
]

function summaryTable(types: ColumnTypes): readonly MigrationStatement[] {
  const indexes = [
    'summaries_by_time on event_summaries (tenant_id, created_at, position)',
    'summaries_by_event on event_summaries (tenant_id, event, created_at, position)',
    'summaries_by_tool on event_summaries (tenant_id, tool, created_at, position) where tool is not null',
    'summaries_by_session on event_summaries (tenant_id, session_id, created_at, position) where session_id is not null',
    // Few events have these, so they cost little.
    "summaries_by_kind on event_summaries (tenant_id, kind, created_at, position) where kind <> 'allow'",
    'summaries_by_hook on event_summaries (tenant_id, by_hook, created_at, position) where by_hook is not null',
    `summaries_rewritten on event_summaries (tenant_id, created_at, position) where rewritten = ${types.true}`,
    'summaries_opened on event_summaries (tenant_id, created_at, position) where opened is not null',
    'summaries_failed on event_summaries (tenant_id, created_at, position) where failed > 0',
  ]
  return [
    {
      kind: 'table',
      name: 'event_summaries',
      columns: `position ${types.position},
        tenant_id ${types.id} not null,
        event_id text not null,
        event text not null,
        session_id text,
        agent_id text,
        agent text,
        folder text,
        lane text,
        tool text,
        what text,
        kind text not null,
        rewritten ${types.flag} not null,
        opened text,
        failed ${types.number} not null,
        shadow ${types.number} not null,
        by_hook text,
        hook_name text,
        reason text,
        code text,
        duration_ms ${types.real} not null,
        created_at ${types.number} not null,
        probe ${types.flag} not null`,
    },
    ...indexes.map((index) => ({ kind: 'sql', text: `create index ${index}` }) as const),
  ]
}

function rollUpTables(types: ColumnTypes): readonly MigrationStatement[] {
  const histogram = histogramColumns.map((column) => `${column} ${types.number} not null`).join(', ')
  const counts = (...names: string[]) => names.map((name) => `${name} ${types.number} not null`).join(', ')
  return [
    ...['decision_minutes', 'decision_hours'].map(
      (name): MigrationStatement => ({
        kind: 'keyed table',
        name,
        columns: `tenant_id ${types.id} not null, minute ${types.number} not null,
        ${counts('allow', 'rewrite', 'ask', 'block', 'opened', 'failed')}, ${histogram},
        primary key (tenant_id, minute)`,
      }),
    ),
    {
      // An empty text means none, because a key takes no null.
      kind: 'keyed table',
      name: 'event_hours',
      columns: `tenant_id ${types.id} not null, hour ${types.number} not null,
        event text not null, agent_id text not null, tool text not null, kind text not null, by_hook text not null,
        ${counts('rewritten', 'opened', 'failed')}, agent text, hook_name text, ${counts('events')},
        primary key (tenant_id, hour, event, agent_id, tool, kind, by_hook, rewritten, opened, failed)`,
    },
    {
      kind: 'keyed table',
      name: 'hook_hours',
      columns: `tenant_id ${types.id} not null, hour ${types.number} not null, hook_id text not null, hook_name text,
        ${counts('matched', 'block', 'ask', 'rewrite', 'failed', 'last_at')}, ${histogram},
        primary key (tenant_id, hour, hook_id)`,
    },
    {
      kind: 'keyed table',
      name: 'session_lanes',
      columns: `tenant_id ${types.id} not null, session_id text not null, lane text not null,
        created_at ${types.number} not null, primary key (tenant_id, session_id, lane)`,
    },
  ]
}

function sessionColumns(types: ColumnTypes): readonly MigrationStatement[] {
  const columns = [
    ...['agent text', 'folder text', 'title text', `ended_at ${types.number}`],
    ...['tool_calls', 'blocked', 'rewritten', 'asked'].map(
      (name) => `${name} ${types.number} not null default 0`,
    ),
    `hook_ms ${types.real} not null default 0`,
  ]
  return columns.map((column) => ({ kind: 'sql', text: `alter table sessions add column ${column}` }))
}

function falseOf(types: ColumnTypes): string {
  return types.true === '1' ? '0' : 'false'
}

/** Their arguments and reasons are sealed, so old events are listed without them. */
function fillFromRecordedEvents(types: ColumnTypes): readonly MigrationStatement[] {
  // PostgreSQL cannot read every escaped character in JSON, and one such event must not stop the migration.
  const position = (key: string) =>
    `case when replace(moment, '\\u', '') = moment then cast(moment as ${types.json}) ->> '${key}' end`
  const count = (condition: string) => `sum(case when ${condition} then 1 else 0 end)`
  const histogram = histogramConditions('duration_ms').map(count).join(', ')
  const inSession = (what: string, and = '') =>
    `coalesce((select ${what} from events e where e.tenant_id = sessions.tenant_id and e.session_id = sessions.session_id ${and}), 0)`
  const statements = [
    `insert into event_summaries (tenant_id, event_id, event, session_id, agent_id, agent, lane, tool, kind, rewritten,
       failed, shadow, by_hook, code, duration_ms, created_at, probe)
     select tenant_id, event_id, event, session_id, agent_id, ${position('agent')}, ${position('lane')}, ${position('tool')},
       kind, ${falseOf(types)}, 0, 0, by_hook, code, duration_ms, created_at, ${falseOf(types)}
     from events order by created_at, event_id`,
    ...(
      [
        ['decision_minutes', MINUTE],
        ['decision_hours', HOUR],
      ] as const
    ).map(
      ([table, unit]) =>
        `insert into ${table} (tenant_id, minute, allow, rewrite, ask, block, opened, failed, ${histogramColumns.join(', ')})
     select tenant_id, created_at / ${unit} * ${unit}, ${count("kind = 'allow'")}, 0, ${count("kind = 'ask'")},
       ${count("kind = 'block'")}, 0, 0, ${histogram}
     from event_summaries group by tenant_id, created_at / ${unit} * ${unit}`,
    ),
    `insert into event_hours (tenant_id, hour, event, agent_id, tool, kind, by_hook, rewritten, opened, failed, agent, events)
     select tenant_id, created_at / ${HOUR} * ${HOUR}, event, coalesce(agent_id, ''), coalesce(tool, ''), kind,
       coalesce(by_hook, ''), 0, 0, 0, max(agent), count(*)
     from event_summaries
     group by tenant_id, created_at / ${HOUR} * ${HOUR}, event, coalesce(agent_id, ''), coalesce(tool, ''), kind, coalesce(by_hook, '')`,
    `insert into hook_hours (tenant_id, hour, hook_id, matched, block, ask, rewrite, failed, last_at, ${histogramColumns.join(', ')})
     select tenant_id, created_at / ${HOUR} * ${HOUR}, cast(hook_id as text), count(*), ${count("decision = 'block'")},
       ${count("decision = 'ask'")}, 0, ${count("decision in ('error', 'timeout')")}, max(created_at), ${histogram}
     from hook_executions where hook_id is not null and decision <> 'late'
     group by tenant_id, created_at / ${HOUR} * ${HOUR}, hook_id`,
    `insert into session_lanes (tenant_id, session_id, lane, created_at)
     select tenant_id, session_id, lane, min(created_at) from event_summaries
     where session_id is not null and lane is not null group by tenant_id, session_id, lane`,
    `update sessions set tool_calls = ${inSession('count(*)', "and e.event = 'pre_tool_use'")},
       blocked = ${inSession('count(*)', "and e.kind = 'block'")}, asked = ${inSession('count(*)', "and e.kind = 'ask'")},
       hook_ms = ${inSession('sum(e.duration_ms)')},
       agent = (select max(s.agent) from event_summaries s
         where s.tenant_id = sessions.tenant_id and s.session_id = sessions.session_id)`,
  ]
  return statements.map((text) => ({ kind: 'sql', text }))
}
