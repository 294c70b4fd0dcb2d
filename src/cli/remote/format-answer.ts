import { isRecord } from '../../engine/core/check.ts'
import { explainDecision, unreadableText } from '../explain-decision.ts'
import { formatTable, replaceControlCharacters } from '../output.ts'

type Fields = Readonly<Record<string, unknown>>

/** The columns that each list shows; `--json` prints all fields. */
const columns: Readonly<Record<string, readonly string[]>> = {
  hooks: ['id', 'event', 'handler_type', 'scope', 'enabled', 'priority', 'name'],
  executions: ['created_at', 'event', 'decision', 'hook_id', 'duration_ms', 'event_id', 'error'],
  sessions: ['session_id', 'agent_id', 'events', 'last_at'],
  tenants: ['id', 'name', 'created_at'],
  tokens: ['id', 'name', 'role', 'agent_id', 'expires_at'],
  secrets: ['name', 'updated_at'],
  providers: ['name', 'baseUrl', 'defaultModel', 'apiKey'],
  deliveries: ['id', 'kind', 'state', 'attempts', 'due_at', 'last_error'],
}

/** Methods whose answer is neither a list nor a few fields. */
const views: Readonly<Record<string, (answer: Fields) => string>> = {
  status: statusText,
  'events.explain': ({ decision, trace }) => explainDecision({ ...asFields(decision), trace } as never),
  'hooks.test': ({ result }) => {
    const { trace: _, ...rest } = asFields(result)
    return fieldsText(rest)
  },
  'sessions.timeline': timelineText,
  'settings.get': ({ settings }) => settingsText(asFields(settings)),
  'settings.set': ({ settings }) => settingsText(asFields(settings)),
}

/** Formats an answer of the gateway for people. */
export function formatAnswer(method: string, answer: unknown): string {
  const fields = asFields(answer)
  const view = views[method]
  if (view !== undefined) return view(fields)
  const [name, list] = Object.entries(fields).find(([, value]) => Array.isArray(value)) ?? []
  if (name !== undefined && Array.isArray(list)) return listText(list, columns[name])
  const values = Object.values(fields)
  return fieldsText(values.length === 1 && isRecord(values[0]) ? values[0] : fields)
}

/** One item of a subscription on one line, with the columns of its noun. */
export function formatItem(method: string, item: unknown): string {
  const fields = asFields(item)
  const [noun = ''] = method.split('.')
  return (columns[noun] ?? Object.keys(fields)).map((name) => rowCell(fields, name)).join('  ')
}

function listText(rows: readonly unknown[], names?: readonly string[]): string {
  if (rows.length === 0) return 'none'
  const shown = names ?? Object.keys(asFields(rows[0]))
  return formatTable([shown, ...rows.map((row) => shown.map((name) => rowCell(asFields(row), name)))])
}

/** Marks an execution whose answer was not a decision, as `explain` does. */
function rowCell(row: Fields, name: string): string {
  const text = cellText(row[name], name)
  if (row.unreadable !== true) return text
  if (name === 'decision') return `${text} ~`
  return name === 'error' && text === '-' ? unreadableText : text
}

function fieldsText(fields: Fields): string {
  return formatTable(Object.entries(fields).map(([name, value]) => [name, cellText(value, name)]))
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
        [`  ${state}`, hookId, event, name, reason].filter((part) => part !== undefined).join('  '),
      ),
    ),
    `${count}${more ? ' or more' : ''} dead deliveries`,
    `${remaining} of ${budget_total} tokens left this month`,
  ].join('\n')
}

/** One line per event: a heading for each turn, sub-agents indented, and each decision other than `allow`. */
function timelineText({ events }: Fields): string {
  const rows = asList(events)
  if (rows.length === 0) return 'none'
  const lines: string[] = []
  let turn: unknown
  for (const row of rows) {
    const moment = asFields(row.moment)
    if (moment.turn !== undefined && moment.turn !== turn)
      lines.push(replaceControlCharacters(`turn ${String(moment.turn)}`))
    turn = moment.turn ?? turn
    lines.push(timelineLine(row, moment))
  }
  return lines.join('\n')
}

function timelineLine(row: Fields, { depth, lane, tool }: Fields): string {
  const indent = '  '.repeat(1 + (typeof depth === 'number' ? depth : 0))
  const parts = [
    typeof row.created_at === 'number' ? timeFormat.format(row.created_at) : '',
    lane === undefined ? '' : `[${String(lane)}]`,
    String(row.event),
    tool === undefined ? '' : String(tool),
    row.kind === 'allow' ? '' : `→ ${String(row.kind)}`,
    row.by_hook === null || row.by_hook === undefined ? '' : `by ${String(row.by_hook)}`,
    row.code === null || row.code === undefined ? '' : `(${String(row.code)})`,
    `  ${String(row.event_id)}`,
  ]
  return indent + replaceControlCharacters(parts.filter((part) => part !== '').join(' '))
}

/** `2026-08-01 12:30:45`, in the user's time zone. */
const dateFormat = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })
const timeFormat = new Intl.DateTimeFormat('sv', { timeStyle: 'medium' })

function cellText(value: unknown, name: string): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'number' && name.endsWith('_at')) return dateFormat.format(value)
  return typeof value === 'string' ? replaceControlCharacters(value) : JSON.stringify(value)
}

function asFields(value: unknown): Fields {
  return isRecord(value) ? value : {}
}

function asList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(asFields) : []
}
