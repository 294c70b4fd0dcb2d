import { Group } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { hookTitle, isStoredId } from '../../../../src/engine/core/hook-title.ts'
import { useMay } from '../../frame/caller.ts'
import { type GatewayError, type Result, unchecked } from '../../gateway/call.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { fieldsOf } from '../../parts/form/fields.ts'
import { formatDuration, placeOf, plural } from '../../parts/format.ts'
import { Loaded, Page, Tag } from '../../parts/layout.tsx'
import { type PageTab, PageTabs } from '../../parts/page-tabs.tsx'
import { decidedOf, useHookCounts } from '../hooks/hook-counts.tsx'
import { HookActions } from './hook-actions.tsx'
import { HookConfig } from './hook-config.tsx'
import { HookHistory } from './hook-history.tsx'
import { HookOverview } from './hook-overview.tsx'
import { type HookDraft, newHook } from './hook-schema.ts'
import { HookTest } from './hook-test.tsx'
import { hookLike, useRecordedSample } from './recorded-sample.ts'

const route = getRouteApi('/hooks/$hookId')

export type StoredHook = Result<'hooks.get'>['hook']
type EffectiveHook = Result<'hooks.effective'>['hooks'][number]
/** A hook as its page shows it: stored, or in a file, which has fewer facts. */
export type ShownHook = Pick<StoredHook, 'id' | 'event' | 'handler_type'> & Partial<StoredHook>

/** One hook: what it is, how it is set, what it would do, and what it did. */
export function HookPage() {
  const { hookId } = route.useParams()
  const { draft } = route.useSearch()
  if (hookId === 'new' && draft !== undefined) return <DraftedHookView approvalId={draft} />
  if (hookId === 'new') return <HookView stored={undefined} />
  return isStoredId(hookId) ? <StoredHookView hookId={hookId} /> : <NamedHookView hookId={hookId} />
}

/** A hook of a file, or a stored hook by its name. */
function NamedHookView({ hookId }: Readonly<{ hookId: string }>) {
  const query = useMethod('hooks.effective', { hookId, everywhere: true })
  return (
    <Loaded query={query} rows={8}>
      {({ hooks }) => {
        const inFile = hooks.find(({ source }) => source.kind !== 'database' && source.kind !== 'builtin')
        return inFile === undefined ? (
          <StoredHookView hookId={hookId} />
        ) : (
          <HookView key={hookId} stored={undefined} inFile={inFile} />
        )
      }}
    </Loaded>
  )
}

function StoredHookView({ hookId }: Readonly<{ hookId: string }>) {
  const query = useMethod('hooks.get', { hookId })
  return (
    <Loaded query={query} rows={8}>
      {({ hook }) => <HookView key={hook.id} stored={hook} />}
    </Loaded>
  )
}

/** A new hook that allows the calls of an approval. A person reviews it; nothing is saved before. */
function DraftedHookView({ approvalId }: Readonly<{ approvalId: string }>) {
  // The draft holds an instant; reading it again would change what the person reviews.
  const options = { staleTime: Number.POSITIVE_INFINITY }
  const query = useMethod('approvals.draft', { approval_id: approvalId }, options)
  return (
    <Loaded query={query} rows={8}>
      {({ hook, notes }) => <HookView stored={undefined} drafted={hook} notes={notes} />}
    </Loaded>
  )
}

interface HookViewProps {
  readonly stored: StoredHook | undefined
  /** A hook that only its file can change. */
  readonly inFile?: EffectiveHook | undefined
  readonly drafted?: HookDraft | undefined
  /** What a person should know before saving the draft. */
  readonly notes?: readonly string[] | undefined
}

function HookView({ stored, inFile, drafted, notes }: HookViewProps) {
  const isNew = stored === undefined && inFile === undefined
  const { tab = isNew ? 'config' : 'overview', from, draft: draftOf } = route.useSearch()
  const sample = useRecordedSample(from)
  const navigate = useNavigate()
  const [edited, setEdited] = useState<HookDraft>()
  const [refusal, setRefusal] = useState<GatewayError>()
  const edit = (draft: HookDraft | undefined) => {
    setEdited(draft)
    setRefusal(undefined)
  }
  const fresh = sample === undefined ? newHook : hookLike(sample, newHook)
  const definition: ShownHook | undefined = inFile && unchecked<ShownHook>(fieldsOf(inFile.definition))
  const known = stored ?? definition
  const draft: HookDraft = edited ?? known ?? drafted ?? fresh
  const isAdmin = useMay('admin')
  const readOnlyReason = inFile === undefined ? whyReadOnly(stored, isAdmin) : whereToChange(inFile)
  const shown = { stored, draft, isEdited: edited !== undefined }
  const config = { draft, onChange: edit, refusal, readOnlyReason }
  const newTitle = drafted === undefined ? 'New hook' : 'Allow calls like this'
  const title = known === undefined ? newTitle : hookTitle(known)
  return (
    <Page
      title={title}
      heading={
        <Group gap="xs">
          {title}
          {stored === undefined ? null : <HookTags hook={stored} />}
          {inFile === undefined ? null : <FileHookTags hook={inFile} />}
        </Group>
      }
      purpose={<Purpose known={known} drafted={drafted} notes={notes} />}
      {...(stored === undefined ? {} : { command: `hookhelm hooks get ${stored.id}` })}
      actions={
        inFile === undefined ? (
          <HookActions {...shown} onSaved={() => edit(undefined)} onRefused={setRefusal} />
        ) : null
      }
    >
      <PageTabs
        chosen={tab}
        onChoose={(name) =>
          void navigate({
            to: '/hooks/$hookId',
            params: { hookId: known?.id ?? 'new' },
            search: { tab: name, from, draft: draftOf },
            replace: true,
          })
        }
        tabs={[
          ...ofKnown('overview', 'Overview', known && <HookOverview hook={known} inFile={inFile} />),
          { name: 'config', title: 'Config', content: <HookConfig {...config} /> },
          {
            name: 'test',
            title: 'Test',
            content: <HookTest key={from} {...shown} hookId={known?.id} from={from} />,
          },
          ...ofKnown('history', 'History', stored && <HookHistory hookId={stored.id} />),
        ]}
      />
    </Page>
  )
}

interface PurposeProps extends Pick<HookViewProps, 'drafted' | 'notes'> {
  readonly known: ShownHook | undefined
}

function Purpose({ known, drafted, notes = [] }: PurposeProps) {
  return (
    <>
      {drafted === undefined
        ? (known?.description ?? 'Runs on an event, looks at it, and decides.')
        : 'Review the draft: while this hook applies, no person is asked about the calls that it matches. Nothing is saved yet.'}
      {notes.map((note) => (
        <b key={note}> {note}</b>
      ))}
      {known === undefined ? null : <HookFigures hook={known} />}
    </>
  )
}

/** A tab that not every hook has. */
function ofKnown(name: string, title: string, content: ReactNode): readonly PageTab[] {
  return content === undefined ? [] : [{ name, title, content }]
}

function HookTags({ hook }: Readonly<{ hook: StoredHook }>) {
  const { scope, source, version, shadow, enabled, expires_at } = hook
  // From its instant on a hook is skipped.
  const isExpired = expires_at !== undefined && Date.parse(expires_at) <= Date.now()
  return (
    <>
      <Tag>{scope}</Tag>
      <Tag>{source === 'builtin' ? 'system · built in' : `stored · version ${version}`}</Tag>
      {shadow ? <Tag>shadow</Tag> : null}
      {enabled ? null : <Tag>off</Tag>}
      {isExpired ? <Tag>expired</Tag> : null}
    </>
  )
}

function FileHookTags({ hook: { source, state, locked, why } }: Readonly<{ hook: EffectiveHook }>) {
  return (
    <>
      <Tag>{source.kind} file</Tag>
      {locked ? <Tag>locked</Tag> : null}
      {state === 'decides' || state === 'observes' ? null : <Tag>{why || state}</Tag>}
    </>
  )
}

function whereToChange({ source }: EffectiveHook): string {
  const file = source.file === undefined ? 'a hook file' : placeOf(source)
  return `You can read this hook and test it here. It is in ${file}: change it there.`
}

function whyReadOnly(stored: StoredHook | undefined, isAdmin: boolean): string | undefined {
  if (stored?.source === 'builtin')
    return 'This hook comes with Hookhelm: you can read it, test it, and switch it on or off, but not change it.'
  return isAdmin ? undefined : 'You can read this hook and test it, but not change it.'
}

/** Where the hook runs in its chain, and what it did today. */
function HookFigures({ hook: { id, event } }: Readonly<{ hook: ShownHook }>) {
  const effective = useMethod('hooks.effective', { event, everywhere: true })
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
        : ` · decided ${decidedOf(found)} of ${plural(found.matched, 'match', 'matches')} today`}
      {found?.p95_ms == null ? null : ` · p95 ${formatDuration(found.p95_ms)}`}
    </>
  )
}
