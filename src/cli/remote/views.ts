import { isRecord } from '../../engine/core/check.ts'
import { explained } from '../explained.ts'
import { plain, table } from '../output.ts'
import { timelineText } from './timeline-view.ts'

type Fields = Readonly<Record<string, unknown>>

/** The columns of each list, for people; `--json` has them all. */
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

/** Answers that are more than a list or a few fields. */
const views: Readonly<Record<string, (answer: Fields) => string>> = {
  status: statusText,
  'events.explain': ({ decision, trace }) => explained({ ...asFields(decision), trace } as never),
  'hooks.test': ({ result }) => {
    const { trace: _, ...rest } = asFields(result)
    return fieldsText(rest)
  },
  'sessions.timeline': timelineText,
  'settings.get': ({ settings }) => settingsText(asFields(settings)),
  'settings.set': ({ settings }) => settingsText(asFields(settings)),
}

/** An answer of the gateway as a person reads it. */
export function viewOf(method: string, answer: unknown): string {
  const fields = asFields(answer)
  const view = views[method]
  if (view !== undefined) return view(fields)
  const [name, list] = Object.entries(fields).find(([, value]) => Array.isArray(value)) ?? []
  if (name !== undefined && Array.isArray(list)) return listText(list, columns[name])
  const values = Object.values(fields)
  return fieldsText(values.length === 1 && isRecord(values[0]) ? values[0] : fields)
}

/** One item of a subscription on one line, with the columns of its noun. */
export function itemView(method: string, item: unknown): string {
  const fields = asFields(item)
  const [noun = ''] = method.split('.')
  return (columns[noun] ?? Object.keys(fields)).map((name) => cell(fields[name], name)).join('  ')
}

function listText(rows: readonly unknown[], names?: readonly string[]): string {
  if (rows.length === 0) return 'none'
  const shown = names ?? Object.keys(asFields(rows[0]))
  return table([shown, ...rows.map((row) => shown.map((name) => cell(asFields(row)[name], name)))])
}

function fieldsText(fields: Fields): string {
  return table(Object.entries(fields).map(([name, value]) => [name, cell(value, name)]))
}

function settingsText(settings: Fields): string {
  return table(
    Object.entries(settings).map(([name, given]) => {
      const { value, from } = asFields(given)
      return [name, cell(value, name), String(from)]
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
    table(asList(lines).map(({ name, state, text }) => [`  ${state}`, String(name), String(text)])),
    `${total} hooks`,
    ...Object.entries(others).flatMap(([fate, list]) =>
      asList(list).map(({ hookId, event, name, reason }) =>
        [`  ${fate}`, hookId, event, name, reason].filter((part) => part !== undefined).join('  '),
      ),
    ),
    `${count}${more ? ' or more' : ''} dead deliveries`,
    `${remaining} of ${budget_total} tokens left this month`,
  ].join('\n')
}

/** `2026-08-01 12:30:45`, in the time of whoever reads it. */
const moment = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

function cell(value: unknown, name: string): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'number' && name.endsWith('_at')) return moment.format(value)
  return typeof value === 'string' ? plain(value) : JSON.stringify(value)
}

function asFields(value: unknown): Fields {
  return isRecord(value) ? value : {}
}

function asList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(asFields) : []
}
