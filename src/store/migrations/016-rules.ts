import type { ColumnTypes, MigrationStatement, MigrationStep } from './migration-step.ts'

/** Recovery rules and their firings, teams with mailboxes, and environments that start runners. */
export const ruleTables: MigrationStep = (types) => [
  ...definitionTables(types),
  mailboxTable(types),
  ...firingTables(types),
  ...indexes(),
  // What a rule changes in the blueprint of a run that it starts.
  { kind: 'sql', text: 'alter table runs add column overrides text' },
]

function ownedBy(types: ColumnTypes): string {
  return `tenant_id ${types.id} not null references tenants (id) on delete cascade`
}

/** Definitions are sealed texts: they may hold headers, and addresses that are secrets. */
function definitionTables(types: ColumnTypes): readonly MigrationStatement[] {
  const named = `${ownedBy(types)}, name text not null, definition text not null,
    created_at ${types.number} not null, updated_at ${types.number} not null, primary key (tenant_id, name)`
  return [
    {
      kind: 'table',
      name: 'rules',
      columns: `${ownedBy(types)},
        rule_id text not null,
        definition text not null,
        enabled ${types.flag} not null,
        version ${types.number} not null,
        created_by text,
        created_at ${types.number} not null,
        updated_at ${types.number} not null,
        primary key (tenant_id, rule_id)`,
    },
    { kind: 'table', name: 'teams', columns: named },
    { kind: 'table', name: 'environments', columns: named },
  ]
}

function mailboxTable(types: ColumnTypes): MigrationStatement {
  return {
    kind: 'table',
    name: 'mailbox_messages',
    columns: `${ownedBy(types)},
      message_id text not null,
      team text not null,
      member text not null,
      firing_id text,
      content text not null,
      created_at ${types.number} not null,
      read_at ${types.number},
      primary key (tenant_id, message_id)`,
  }
}

function firingTables(types: ColumnTypes): readonly MigrationStatement[] {
  return [
    {
      kind: 'table',
      name: 'rule_firings',
      columns: `${ownedBy(types)},
        firing_id text not null,
        rule_id text not null,
        source text not null,
        event_id text not null,
        event text not null,
        outcome text not null,
        session_id text,
        run_id text,
        depth ${types.number} not null,
        content text not null,
        created_at ${types.number} not null,
        primary key (tenant_id, firing_id)`,
    },
    {
      kind: 'table',
      name: 'rule_actions',
      columns: `tenant_id ${types.id} not null,
        firing_id text not null,
        position ${types.number} not null,
        action_id text not null,
        action_type text not null,
        status text not null,
        reason text,
        detail text,
        run_id text,
        updated_at ${types.number} not null,
        primary key (tenant_id, firing_id, position),
        foreign key (tenant_id, firing_id) references rule_firings (tenant_id, firing_id) on delete cascade`,
    },
  ]
}

function indexes(): readonly MigrationStatement[] {
  const texts = [
    'mailbox_by_time on mailbox_messages (tenant_id, created_at, message_id)',
    'mailbox_of_member on mailbox_messages (tenant_id, team, member, created_at, message_id)',
    'mailbox_to_prune on mailbox_messages (created_at)',
    'firings_by_time on rule_firings (tenant_id, created_at, firing_id)',
    'firings_of_rule on rule_firings (tenant_id, rule_id, created_at, firing_id)',
    'firings_of_run on rule_firings (tenant_id, run_id, created_at, firing_id) where run_id is not null',
    'firings_to_prune on rule_firings (created_at)',
    'actions_of_run on rule_actions (tenant_id, run_id) where run_id is not null',
  ]
  return texts.map((index) => ({ kind: 'sql', text: `create index ${index}` }))
}
