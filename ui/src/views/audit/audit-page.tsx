import { Button, Menu, Progress } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { useMay } from '../../frame/caller.ts'
import { call } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { Decision } from '../../parts/decision.tsx'
import { commandOf, type EventFilter, filterParams, parseFilter, summaryOutcome } from '../../parts/filter.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { agentTitle, formatCount, formatInstant, plural } from '../../parts/format.ts'
import { Empty, Failed, Loaded, layout, Page, Panel } from '../../parts/layout.tsx'
import { Code } from '../../parts/values.tsx'
import styles from './audit-page.module.css'
import { exportEvents } from './export-events.ts'

const route = getRouteApi('/audit')

/** Every recorded event, with facets, export and proof. */
export function AuditPage() {
  const { filter = '' } = route.useSearch()
  const navigate = useNavigate()
  const params = useMemo(() => filterParams(parseFilter(filter)), [filter])
  useRefreshOnEvents([['facets'], ['audit']])
  const change = (text: string) =>
    void navigate({ to: '/audit', search: text === '' ? {} : { filter: text }, replace: true })
  return (
    <Page
      title="Audit"
      purpose="Every recorded event: narrow it down, take it away, and prove that no one changed it."
      actions={<AuditActions filter={params} />}
      command={commandOf('hookhelm events list', params)}
      wide
    >
      <FilterBar value={filter} onChange={change} />
      <div className={styles.explorer}>
        <Facets params={params} onAdd={(term) => change(`${filter} ${term}`.trim())} />
        <Events params={params} />
      </div>
    </Page>
  )
}

function Facets({ params, onAdd }: { readonly params: EventFilter; readonly onAdd: (term: string) => void }) {
  const query = useQuery({
    queryKey: ['facets', params],
    queryFn: ({ signal }) => call('stats.facets', params, signal),
    placeholderData: (previous) => previous,
  })
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
                      <span>{name ?? value}</span>
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

function Events({ params }: { readonly params: EventFilter }) {
  const query = useQuery({
    queryKey: ['audit', params],
    queryFn: ({ signal }) => call('events.list', { ...params, limit: 100 }, signal),
    placeholderData: (previous) => previous,
  })
  return (
    <Panel title="Events" aside="the newest 100; export takes all">
      <Loaded query={query} rows={12}>
        {({ events }) =>
          events.length === 0 ? (
            <Empty title="No event passes the filter" />
          ) : (
            events.map((event) => (
              <Link
                key={event.event_id}
                to="/events/$eventId"
                params={{ eventId: event.event_id }}
                className={`${layout.row} ${styles.event}`}
              >
                <time className={styles.muted}>{formatInstant(event.created_at)}</time>
                <span>{agentTitle(event.agent)}</span>
                <Code text={event.what ?? event.event} />
                <Decision outcome={summaryOutcome(event)} />
                <span className={styles.hook} title={event.hook_name ?? ''}>
                  {event.hook_name ?? ''}
                </span>
              </Link>
            ))
          )
        }
      </Loaded>
    </Panel>
  )
}

function AuditActions({ filter }: { readonly filter: EventFilter }) {
  const mayVerify = useMay('admin')
  const [exported, setExported] = useState<number>()
  const verify = useMutation({ mutationFn: () => call('audit.verify', {}) })
  const save = useMutation({
    mutationFn: (format: 'ndjson' | 'csv') => exportEvents(filter, format, setExported),
    onSettled: () => setExported(undefined),
  })
  return (
    <div className={styles.actions}>
      <Menu>
        <Menu.Target>
          <Button variant="default" size="xs" loading={save.isPending}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => save.mutate('ndjson')}>as NDJSON</Menu.Item>
          <Menu.Item onClick={() => save.mutate('csv')}>as CSV</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {mayVerify ? (
        <Button variant="default" size="xs" loading={verify.isPending} onClick={() => verify.mutate()}>
          Verify the chain
        </Button>
      ) : null}
      {exported === undefined ? null : <span role="status">{plural(exported, 'event')} read …</span>}
      {verify.isPending ? <Progress value={100} animated aria-label="verifying" w={120} /> : null}
      {verify.data === undefined ? null : <Verdict verdict={verify.data} />}
      {verify.error === null && save.error === null ? null : (
        <Failed error={verify.error ?? save.error ?? new Error('failed')} />
      )}
    </div>
  )
}

/** Whether the log is intact; if not, where it breaks and what to do. */
function Verdict({ verdict }: { readonly verdict: Methods['audit.verify']['result'] }) {
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
