import { Group, Menu, Progress } from '@mantine/core'
import { keepPreviousData, useMutation } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { hookLabel } from '../../../../src/engine/core/hook-title.ts'
import { useMay } from '../../frame/caller.ts'
import type { Result } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { QuietButton } from '../../parts/buttons/quiet-button.ts'
import { Decision, EventDecision } from '../../parts/decision.tsx'
import { commandOf, type EventFilter, filterParams, parseFilter } from '../../parts/filter/filter.ts'
import { FilterBar } from '../../parts/filter/filter-bar.tsx'
import { agentTitle, formatCount, formatInstant, plural } from '../../parts/format.ts'
import { Empty, Failed, Loaded, LoadedList, layout, Page, Panel } from '../../parts/layout.tsx'
import { Code } from '../../parts/values.tsx'
import styles from './audit-page.module.css'
import { exportEvents } from './export-events.ts'

const route = getRouteApi('/audit')

/** Every recorded event, with facets, export and proof. */
export function AuditPage() {
  const { filter = '' } = route.useSearch()
  const navigate = useNavigate()
  const params = useMemo(() => filterParams(parseFilter(filter)), [filter])
  useRefreshOnEvents(['stats.facets', 'events.list'])
  const change = (text: string) =>
    void navigate({ to: '/audit', search: { filter: text || undefined }, replace: true })
  return (
    <Page
      title="Audit"
      purpose="Every recorded event: narrow it down, take it away, and prove that no one changed it."
      actions={<AuditActions filter={params} />}
      command={commandOf('hookhelm events list', params)}
      wide
    >
      <FilterBar value={filter} onChange={change} />
      <div className={`${layout.columns} ${styles.explorer}`}>
        <Facets params={params} onAdd={(term) => change(`${filter} ${term}`.trim())} />
        <Events params={params} />
      </div>
    </Page>
  )
}

function Facets({ params, onAdd }: Readonly<{ params: EventFilter; onAdd: (term: string) => void }>) {
  const query = useMethod('stats.facets', params, { placeholderData: keepPreviousData })
  return (
    <aside className={layout.stack} aria-label="Facets">
      <Loaded query={query} rows={10}>
        {(facets) => (
          <>
            <p className={styles.total}>
              <b>{formatCount(facets.total)}</b> events
              {facets.complete ? '' : ' (only the newest are counted)'}
            </p>
            {(
              [
                ['decision', facets.kind],
                ['event', facets.event],
                ['agent', facets.agent],
                ['tool', facets.tool],
                ['hook', facets.hook],
              ] as const
            ).map(([field, counts]) => (
              <Panel key={field} title={field}>
                {counts.slice(0, 8).map(({ value, name, count }) =>
                  value === null ? null : (
                    <button
                      key={value}
                      type="button"
                      className={styles.facet}
                      onClick={() => onAdd(`${field}:${value.includes(' ') ? `"${value}"` : value}`)}
                    >
                      <span className="cut">
                        {field === 'hook' ? hookLabel(name, value) : (name ?? value)}
                      </span>
                      {formatCount(count)}
                    </button>
                  ),
                )}
              </Panel>
            ))}
          </>
        )}
      </Loaded>
    </aside>
  )
}

function Events({ params }: Readonly<{ params: EventFilter }>) {
  const newest = { ...params, limit: 100 }
  const query = useMethod('events.list', newest, { placeholderData: keepPreviousData })
  return (
    <Panel title="Events" aside="the newest 100; export takes all">
      <LoadedList
        query={query}
        rows={12}
        of={({ events }) => events}
        empty={<Empty title="No event passes the filter" />}
      >
        {(event) => (
          <Link
            key={event.event_id}
            to="/events/$eventId"
            params={{ eventId: event.event_id }}
            className={`${layout.row} ${styles.event}`}
          >
            <time className="muted">{formatInstant(event.created_at)}</time>
            <span>{agentTitle(event.agent)}</span>
            <Code text={event.what ?? event.event} />
            <EventDecision event={event} />
            <span className="muted cut">
              {event.by_hook === null ? '' : hookLabel(event.hook_name, event.by_hook)}
            </span>
          </Link>
        )}
      </LoadedList>
    </Panel>
  )
}

function AuditActions({ filter }: Readonly<{ filter: EventFilter }>) {
  const mayVerify = useMay('admin')
  const [exported, setExported] = useState<number>()
  const verify = useAction('audit.verify')
  const save = useMutation({
    mutationFn: (format: 'ndjson' | 'csv') => exportEvents(filter, format, setExported),
    onSettled: () => setExported(undefined),
  })
  return (
    <Group gap={8}>
      <Menu>
        <Menu.Target>
          <QuietButton loading={save.isPending}>Export</QuietButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => save.mutate('ndjson')}>as NDJSON</Menu.Item>
          <Menu.Item onClick={() => save.mutate('csv')}>as CSV</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {mayVerify ? (
        <QuietButton loading={verify.isPending} onClick={() => verify.mutate({})}>
          Verify the chain
        </QuietButton>
      ) : null}
      {exported === undefined ? null : <span role="status">{plural(exported, 'event')} read …</span>}
      {verify.isPending ? <Progress value={100} animated aria-label="verifying" w={120} /> : null}
      {verify.data === undefined ? null : <Verdict verdict={verify.data} />}
      <Failed error={verify.error ?? save.error} />
    </Group>
  )
}

/** Whether the log is intact; if not, where it breaks and what to do. */
function Verdict({ verdict }: Readonly<{ verdict: Result<'audit.verify'> }>) {
  const { ok, checked, broken } = verdict
  const executions = plural(checked, 'execution')
  if (ok) return <Decision outcome="allow">{`${executions} verified, nothing was changed`}</Decision>
  return (
    <div className={styles.broken} role="alert">
      <Decision outcome="failed">The audit log was changed</Decision>
      <p>
        Chain <code>{broken?.chain}</code> breaks at row {broken?.seq}: {broken?.why}. {executions} before it{' '}
        {checked === 1 ? 'is' : 'are'} intact.
      </p>
      <p>
        Do not trust this row and those after it. Keep a copy of the database, compare it with a backup, and
        find out who can write to it.
      </p>
    </div>
  )
}
