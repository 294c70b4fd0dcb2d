import { agentName } from '../../access/agent-names.ts'
import { hookLabel } from '../../engine/core/hook-title.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { visibleJson, visibleLine } from '../../engine/core/values/visible-text.ts'
import { explainDecision, formatTerms, unreadableText } from '../hooks/explain-decision.ts'
import { formatTable } from '../output.ts'
import { formatFiring } from './format-firing.ts'
import { formatSimulation } from './format-simulation.ts'

type Fields = Readonly<Record<string, unknown>>

/** The columns that each list shows, with names in place of ids; `--json` prints all fields. */
const columns: Readonly<Record<string, readonly string[]>> = {
  hooks: ['hook', 'event', 'handler_type', 'scope', 'enabled', 'priority'],
  executions: ['created_at', 'event', 'decision', 'hook', 'duration_ms', 'event_id', 'error'],
  events: ['created_at', 'agent', 'event', 'tool', 'what', 'kind', 'hook_name', 'duration_ms', 'event_id'],
  capabilities: ['title', 'last_at', 'can', 'cannot'],
  sessions: ['session_id', 'agent', 'project', 'title', 'events', 'blocked', 'last_at'],
  tenants: ['name', 'created_at'],
  members: ['name', 'kind', 'identities', 'created_at'],
  tokens: ['name', 'role', 'agent', 'expires_at'],
  secrets: ['name', 'updated_at'],
  providers: ['name', 'baseUrl', 'defaultModel', 'apiKey'],
  deliveries: ['id', 'kind', 'state', 'attempts', 'due_at', 'last_error'],
  blueprints: ['name', 'type', 'description', 'points', 'source', 'version', 'updated_at'],
  runs: ['run_id', 'agent_name', 'run_status', 'hooks', 'created_by', 'created_at', 'completed_at', 'reason'],
  'runSessions.list': ['session_id', 'agent_name', 'status', 'parent_session_id', 'created_by', 'created_at'],
  'runSessions.events': ['timestamp', 'event_type', 'run_id', 'hook_type', 'target_name', 'error'],
  'runHooks.list': ['name', 'definition', 'updated_at'],
  approvals: [
    'approval_id',
    'status',
    'agent',
    'what',
    'folder',
    'reason',
    'deadline_at',
    'decided_by',
    'granted_until',
  ],
  rules: ['id', 'source', 'enabled', 'cooldown_left_ms', 'problem'],
  firings: ['created_at', 'rule_id', 'event', 'outcome', 'results', 'event_id'],
  teams: ['name', 'description', 'member_names', 'updated_at'],
  messages: ['created_at', 'team', 'member', 'from', 'summary', 'read_at', 'message_id'],
  environments: ['name', 'type', 'enabled', 'updated_at'],
  runners: ['runner_id', 'hostname', 'executor_profile', 'tags', 'registered_by', 'last_seen_at'],
}

/** Columns that are made of several fields: the name if there is one, else the id. */
const combined: Readonly<Record<string, (row: Fields) => unknown>> = {
  hook: ({ hook_name, name, hook_id, id }) => hookTitleOf(hook_name ?? name, hook_id ?? id),
  agent: ({ agent, agent_id, tenant_id }) => agent ?? agentText(tenant_id, agent_id),
  type: ({ type, definition }) => type ?? asFields(definition).type,
  description: ({ description, definition }) => description ?? asFields(definition).description,
  points: ({ definition }) => Object.keys(asFields(asFields(definition).hooks)).join(', ') || undefined,
  results: ({ actions }) =>
    asList(actions)
      .map((action) => `${String(asFields(action).action_id)} ${String(asFields(action).status)}`)
      .join(', '),
  member_names: ({ members }) =>
    asList(members)
      .map((member) => String(asFields(member).name))
      .join(', '),
  enabled: ({ enabled, definition }) => enabled ?? asFields(definition).enabled ?? true,
  // A built-in blueprint has no time.
  updated_at: ({ updated_at }) => (updated_at === 0 ? undefined : updated_at),
  run_status: ({ status, block_reason }) => (typeof block_reason === 'string' ? 'blocked' : status),
  reason: ({ reason, block_reason, error }) => reason ?? block_reason ?? error,
}

/** A list shows what people call a hook, and never an id that the store made. */
function hookTitleOf(name: unknown, id: unknown): unknown {
  if (typeof name === 'string') return name
  return typeof id === 'string' ? hookLabel(undefined, id) : undefined
}

function agentText(tenant: unknown, id: unknown): unknown {
  return typeof tenant === 'string' && typeof id === 'string' ? agentName(tenant, id) : id
}

/** Methods whose answer is neither a list nor a few fields. */
const views: Readonly<Record<string, (answer: Fields) => string>> = {
  status: statusText,
  'audit.verify': verdictText,
  'events.explain': ({ decision, trace, effects }) =>
    explainDecision({ ...asFields(decision), trace } as never, effects as never),
  'hooks.test': ({ result }) => {
    const { trace: _, terms, ...rest } = asFields(result)
    return fieldsText({ ...rest, ...(terms === undefined ? {} : { terms: formatTerms(asList(terms)) }) })
  },
  'sessions.timeline': timelineText,
  // What `hooks create --file` reads: YAML has comments, and JSON is YAML.
  'approvals.draft': ({ hook, notes }) =>
    [...asList(notes).map((note) => `# ${visibleLine(String(note))}`), visibleJson(hook, 2)].join('\n'),
  // What `blueprints save` reads.
  'blueprints.show': ({ blueprint }) => visibleJson(asFields(blueprint).definition, 2),
  'rules.simulate': formatSimulation,
  'rules.firing': formatFiring,
  'settings.get': ({ settings }) => settingsText(asFields(settings)),
  'settings.set': ({ settings }) => settingsText(asFields(settings)),
}

/** Formats an answer of the gateway for people. */
export function formatAnswer(method: string, answer: unknown): string {
  const fields = asFields(answer)
  const view = views[method]
  if (view !== undefined) return view(fields)
  const [name, list] = Object.entries(fields).find(([, value]) => Array.isArray(value)) ?? []
  if (name !== undefined && Array.isArray(list)) return listText(list, columns[method] ?? columns[name])
  const values = Object.values(fields)
  return fieldsText(values.length === 1 && isRecord(values[0]) ? values[0] : fields)
}

/** One item of a subscription on one line, with the columns of its noun. */
export function formatItem(method: string, item: unknown): string {
  const fields = asFields(item)
  const [noun = ''] = method.split('.')
  return (columns[noun] ?? Object.keys(fields)).map((name) => columnText(fields, name)).join('  ')
}

/** Marks an execution whose answer was not a decision, as `explain` does. */
function columnText(row: Fields, name: string): string {
  const text = cellText(combined[name]?.(row) ?? row[name], name)
  if (row.unreadable !== true) return text
  if (name === 'decision') return `${text} ~`
  return name === 'error' && text === '-' ? unreadableText : text
}

function listText(rows: readonly unknown[], names?: readonly string[]): string {
  if (rows.length === 0) return 'none'
  const shown = names ?? Object.keys(asFields(rows[0]))
  return formatTable([shown, ...rows.map((row) => shown.map((name) => columnText(asFields(row), name)))])
}

/** The id of the tenant tells people nothing; agents have names. */
function fieldsText({ tenant_id: tenant, ...fields }: Fields): string {
  return formatTable(
    Object.entries(fields).map(([name, value]) => {
      const isAgents = name === 'agent_ids' && Array.isArray(value)
      return [name, cellText(isAgents ? value.map((id) => agentText(tenant, id)).join(', ') : value, name)]
    }),
  )
}

function settingsText(settings: Fields): string {
  return formatTable(
    Object.entries(settings).map(([name, given]) => {
      const { value, from } = asFields(given)
      return [name, cellText(value, name), String(from)]
    }),
  )
}

function statusText(status: Fields): string {
  const { ready, version, edition, lines, hooks, deadDeliveries, budget } = status
  const { total, ...others } = asFields(hooks)
  const { budget_total, remaining } = asFields(budget)
  const { count, more } = asFields(deadDeliveries)
  return [
    `hookhelm ${version}, ${edition} edition: ${ready ? 'ready' : 'NOT READY'}`,
    formatTable(asList(lines).map(({ name, state, text }) => [`  ${state}`, String(name), String(text)])),
    `${total} hooks`,
    ...Object.entries(others).flatMap(([state, list]) =>
      asList(list).map(({ hookId, event, name, reason }) =>
        visibleLine([`  ${state}`, hookTitleOf(name, hookId), event, reason].join('  ')),
      ),
    ),
    `${count}${more ? ' or more' : ''} dead deliveries`,
    `${remaining} of ${budget_total} tokens left this month`,
  ].join('\n')
}

/** Which rows are intact, where the chain breaks, and what to do then. */
function verdictText({ ok, checked, broken }: Fields): string {
  if (ok === true) return `intact: ${checked} executions verified, none was changed, removed or inserted`
  const { chain, seq, why } = asFields(broken)
  return [
    'NOT INTACT: the audit log was changed',
    formatTable([
      ['  chain', chain === 'journal' ? 'journal (recorded, not yet in rows)' : String(chain)],
      ['  breaks at', `row ${seq}: ${why}`],
      ['  verified before', `${checked} executions`],
    ]),
    'Do not trust this row and the rows after it in the chain. Keep a copy of the database as it is now, compare it',
    'with a backup (hookhelm audit verify on the restored copy), and find out who can write to the database.',
  ].join('\n')
}

/** One line per event: a heading for each turn, sub-agents indented, decisions other than `allow`, and rewrites. */
function timelineText({ events }: Fields): string {
  const rows = asList(events)
  if (rows.length === 0) return 'none'
  const lines: string[] = []
  let turn: unknown
  let count = 0
  for (const row of rows) {
    const moment = asFields(row.moment)
    if (moment.turn !== undefined && moment.turn !== turn) lines.push(`turn ${++count}`)
    turn = moment.turn ?? turn
    lines.push(...timelineLines(row, moment))
  }
  return lines.map(visibleLine).join('\n')
}

function timelineLines(row: Fields, { depth, lane, tool }: Fields): readonly string[] {
  const indent = '  '.repeat(1 + (typeof depth === 'number' ? depth : 0))
  const about = [tool, row.argument].filter((part) => part !== undefined).join(': ')
  const parts = [
    typeof row.created_at === 'number' ? timeFormat.format(row.created_at) : '',
    lane === undefined ? '' : `[${String(lane)}]`,
    String(row.event),
    about,
    decisionText(row),
    `  ${String(row.event_id)}`,
  ]
  const changes = asList(row.changes).map(
    ({ hook, hook_name, field, before, after }) =>
      `${indent}  ${hookTitleOf(hook_name, hook)} changed ${field}: ${before} → ${after}`,
  )
  return [indent + parts.filter((part) => part !== '').join(' '), ...changes]
}

/** A plain allow needs no words. */
function decisionText({ kind, by_hook, by_hook_name, code, reason }: Fields): string {
  if (kind === 'allow' && typeof code !== 'string') return ''
  const by = by_hook === null || by_hook === undefined ? undefined : hookTitleOf(by_hook_name, by_hook)
  const parts = [
    `→ ${String(kind)}`,
    typeof by === 'string' ? ` by ${by}` : '',
    typeof code === 'string' ? ` (${code})` : '',
    typeof reason === 'string' ? `: ${reason}` : '',
  ]
  return parts.join('')
}

/** `2026-08-01 12:30:45`, in the user's time zone. */
const dateFormat = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })
const timeFormat = new Intl.DateTimeFormat('sv', { timeStyle: 'medium' })

function cellText(value: unknown, name: string): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'number' && /_(at|until)$/.test(name)) return dateFormat.format(value)
  return typeof value === 'string' ? visibleLine(value) : visibleJson(value)
}

function asFields(value: unknown): Fields {
  return isRecord(value) ? value : {}
}

function asList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(asFields) : []
}
