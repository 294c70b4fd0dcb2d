import { Group, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Methods } from '../../../../src/client/index.ts'
import { useMay } from '../../frame/caller.ts'
import { call, type GatewayError } from '../../gateway/call.ts'
import { formatDuration, plural } from '../../parts/format.ts'
import { Loaded, Page, Tag } from '../../parts/layout.tsx'
import { HookActions } from './hook-actions.tsx'
import { HookConfig } from './hook-config.tsx'
import { useHookCounts } from './hook-counts.ts'
import { HookHistory } from './hook-history.tsx'
import { HookOverview } from './hook-overview.tsx'
import { type HookDraft, newHook } from './hook-schema.ts'
import { HookTest } from './hook-test.tsx'
import { hookLike, useRecordedSample } from './recorded-sample.ts'

const route = getRouteApi('/hooks/$hookId')

export type StoredHook = Methods['hooks.get']['result']['hook']

/** One hook: what it is, how it is set, what it would do, and what it did. */
export function HookPage() {
  const { hookId } = route.useParams()
  const { draft } = route.useSearch()
  if (hookId === 'new' && draft !== undefined) return <DraftedHookView approvalId={draft} />
  if (hookId === 'new') return <HookView stored={undefined} />
  return <StoredHookView hookId={hookId} />
}

function StoredHookView({ hookId }: { readonly hookId: string }) {
  const query = useQuery({
    queryKey: ['hooks', 'one', hookId],
    queryFn: ({ signal }) => call('hooks.get', { hookId }, signal),
  })
  return (
    <Loaded query={query} rows={8}>
      {({ hook }) => <HookView key={hook.id} stored={hook} />}
    </Loaded>
  )
}

/** A new hook that allows the calls of an approval. A person reviews it; nothing is saved before. */
function DraftedHookView({ approvalId }: { readonly approvalId: string }) {
  const query = useQuery({
    queryKey: ['draft', approvalId],
    queryFn: ({ signal }) => call('approvals.draft', { approval_id: approvalId }, signal),
    // The draft holds an instant; reading it again would change what the person reviews.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Loaded query={query} rows={8}>
      {({ hook, notes }) => <HookView stored={undefined} drafted={hook} notes={notes} />}
    </Loaded>
  )
}

interface HookViewProps {
  readonly stored: StoredHook | undefined
  readonly drafted?: HookDraft
  /** What a person should know before saving the draft. */
  readonly notes?: readonly string[]
}

function HookView({ stored, drafted, notes = [] }: HookViewProps) {
  const { tab = stored === undefined ? 'config' : 'overview', from, draft: draftOf } = route.useSearch()
  const sample = useRecordedSample(from)
  const navigate = useNavigate()
  const [edited, setEdited] = useState<HookDraft>()
  const [refusal, setRefusal] = useState<GatewayError>()
  const edit = (draft: HookDraft | undefined) => {
    setEdited(draft)
    setRefusal(undefined)
  }
  const fresh = sample === undefined ? newHook : hookLike(sample, newHook)
  const draft: HookDraft = edited ?? stored ?? drafted ?? fresh
  const readOnlyReason = whyReadOnly(stored, useMay('admin'))
  const title =
    stored === undefined
      ? drafted === undefined
        ? 'New hook'
        : 'Allow calls like this'
      : (stored.name ?? stored.id)
  return (
    <Page
      title={title}
      heading={
        <Group gap="xs">
          {title}
          {stored === undefined ? null : <Tag>{stored.scope}</Tag>}
          {stored === undefined ? null : (
            <Tag>
              {stored.source === 'builtin' ? 'system · built in' : `stored · version ${stored.version}`}
            </Tag>
          )}
          {stored?.shadow === true ? <Tag>shadow</Tag> : null}
          {stored?.enabled === false ? <Tag>off</Tag> : null}
          {isExpired(stored) ? <Tag>expired</Tag> : null}
        </Group>
      }
      purpose={
        <>
          {drafted === undefined
            ? (stored?.description ?? 'Runs on an event, looks at it, and decides.')
            : 'Review the draft: while this hook applies, no person is asked about the calls that it matches. Nothing is saved yet.'}
          {notes.map((note) => (
            <b key={note}> {note}</b>
          ))}
          {stored === undefined ? null : <HookFigures hook={stored} />}
        </>
      }
      {...(stored === undefined ? {} : { command: `hookhelm hooks get ${stored.id}` })}
      actions={
        <HookActions
          stored={stored}
          draft={draft}
          isEdited={edited !== undefined}
          onSaved={() => edit(undefined)}
          onRefused={setRefusal}
        />
      }
    >
      <Tabs
        value={tab}
        onChange={(chosen) =>
          void navigate({
            to: '/hooks/$hookId',
            params: { hookId: stored?.id ?? 'new' },
            search: {
              ...(chosen === null ? {} : { tab: chosen }),
              ...(from === undefined ? {} : { from }),
              ...(draftOf === undefined ? {} : { draft: draftOf }),
            },
            replace: true,
          })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {stored === undefined ? null : <Tabs.Tab value="overview">Overview</Tabs.Tab>}
          <Tabs.Tab value="config">Config</Tabs.Tab>
          <Tabs.Tab value="test">Test</Tabs.Tab>
          {stored === undefined ? null : <Tabs.Tab value="history">History</Tabs.Tab>}
        </Tabs.List>
        {stored === undefined ? null : (
          <Tabs.Panel value="overview">
            <HookOverview hook={stored} />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="config">
          <HookConfig
            draft={draft}
            onChange={edit}
            refusal={refusal}
            isReadOnly={readOnlyReason !== undefined}
            readOnlyReason={readOnlyReason}
          />
        </Tabs.Panel>
        <Tabs.Panel value="test">
          <HookTest key={from} draft={draft} stored={stored} isEdited={edited !== undefined} from={from} />
        </Tabs.Panel>
        {stored === undefined ? null : (
          <Tabs.Panel value="history">
            <HookHistory hookId={stored.id} />
          </Tabs.Panel>
        )}
      </Tabs>
    </Page>
  )
}

/** From its instant on a hook is skipped. */
function isExpired(stored: StoredHook | undefined): boolean {
  return stored?.expires_at !== undefined && Date.parse(stored.expires_at) <= Date.now()
}

function whyReadOnly(stored: StoredHook | undefined, isAdmin: boolean): string | undefined {
  if (stored?.source === 'builtin')
    return 'This hook comes with Hookhelm: you can read it, test it, and switch it on or off, but not change it.'
  return isAdmin ? undefined : 'You can read this hook and test it, but not change it.'
}

/** Where the hook runs in its chain, and what it did today. */
function HookFigures({ hook: { id, event } }: { readonly hook: StoredHook }) {
  const effective = useQuery({
    queryKey: ['hooks', 'effective', event, ''],
    queryFn: ({ signal }) => call('hooks.effective', { event }, signal),
  })
  const counts = useHookCounts()
  const chain = (effective.data?.hooks ?? []).filter(({ position }) => position !== null)
  const position = chain.find((hook) => hook.id === id)?.position
  const found = counts.data?.hooks.find(({ hook_id }) => hook_id === id)
  return (
    <>
      {' '}
      {position != null
        ? `Runs as number ${position} of ${chain.length}`
        : effective.data === undefined
          ? 'Runs'
          : 'Does not run'}{' '}
      on <code>{event}</code>
      {found === undefined
        ? ' · no match today'
        : ` · decided ${found.block + found.ask + found.rewrite} of ${plural(found.matched, 'match', 'matches')} today`}
      {found?.p95_ms == null ? null : ` · p95 ${formatDuration(found.p95_ms)}`}
    </>
  )
}
