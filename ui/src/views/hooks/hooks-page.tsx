import { Modal, Select, Switch } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { codingAgentNames } from '../../../../src/engine/core/coding-agents.ts'
import { hookLabel } from '../../../../src/engine/core/hook-title.ts'
import { useMay } from '../../frame/caller.ts'
import type { Result } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { ButtonLink } from '../../parts/buttons/button-link.tsx'
import { QuietButton } from '../../parts/buttons/quiet-button.ts'
import { Decision } from '../../parts/decision.tsx'
import { placeOf, plural, showControls } from '../../parts/format.ts'
import { Empty, Failed, Loaded, layout, Page, Panel, Tag } from '../../parts/layout.tsx'
import { Duration } from '../../parts/values.tsx'
import { eventNames } from '../hook/hook-schema.ts'
import { DecidedMeter, decidedOf, type HookCounts, useHookCounts } from './hook-counts.tsx'
import styles from './hooks-page.module.css'
import { Packs } from './packs.tsx'

const route = getRouteApi('/hooks')

type Effective = Result<'hooks.effective'>
type EffectiveHook = Effective['hooks'][number]

/** The hooks that are really in force, in the order in which they run. */
export function HooksPage() {
  const search = route.useSearch()
  const navigate = useNavigate()
  const mayCreate = useMay('admin')
  const query = useMethod('hooks.effective', { ...search, everywhere: search.folder === undefined })
  const known = useMethod('hooks.effective', { everywhere: true })
  const counts = useHookCounts()
  const byId = new Map(counts.data?.hooks.map((hook) => [hook.hook_id, hook]))
  const folders = (known.data?.folders ?? []).map((folder) => ({
    value: folder,
    label: showControls(folder),
  }))
  const choose = (change: typeof search) => void navigate({ to: '/hooks', search: { ...search, ...change } })
  return (
    <Page
      title="Hooks"
      purpose="Every hook in force, in the order in which they run: stored here, or in a file. Locked ones run first and again at the end."
      command={
        search.folder === undefined ? 'hookhelm list --everywhere' : `hookhelm list --folder ${search.folder}`
      }
      actions={
        <>
          <StarterPacks />
          {mayCreate ? (
            <ButtonLink to="/hooks/$hookId" params={{ hookId: 'new' }}>
              New hook
            </ButtonLink>
          ) : null}
        </>
      }
    >
      <div className={styles.choices}>
        <Select
          aria-label="Event"
          placeholder="every event"
          data={[...eventNames]}
          value={search.event ?? null}
          onChange={(event) => choose({ event: event ?? undefined })}
          clearable
          searchable
        />
        <Select
          aria-label="Agent"
          placeholder="every agent"
          data={codingAgentNames}
          value={search.agent ?? null}
          onChange={(agent) => choose({ agent: agent ?? undefined })}
          clearable
        />
        {folders.length === 0 ? null : (
          <Select
            aria-label="Folder"
            placeholder="every folder"
            data={folders}
            value={search.folder ?? null}
            onChange={(folder) => choose({ folder: folder ?? undefined })}
            searchable
            clearable
          />
        )}
      </div>
      <Loaded query={query} rows={8}>
        {(effective) => (
          <div className={layout.stack}>
            {effective.problem === '' ? null : <Failed error={new Error(effective.problem)} />}
            <Files files={effective.files} />
            <Chains hooks={effective.hooks} counts={byId} />
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function StarterPacks() {
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <QuietButton onClick={open}>Starter packs</QuietButton>
      <Modal opened={isOpen} onClose={close} title="Starter packs" size="lg">
        <Packs />
      </Modal>
    </>
  )
}

/** Hook files that are not in force as they are written. */
function Files({ files }: Readonly<{ files: Effective['files'] }>) {
  const odd = files.filter(({ state }) => state !== 'in_force' && state !== 'none')
  if (odd.length === 0) return null
  return (
    <Panel title="Hook files that need you">
      {odd.map(({ folder, file, state, problem }) => (
        <div key={folder} className={`${layout.row} ${styles.file}`}>
          <Decision outcome={state === 'broken' ? 'failed' : 'opened'}>{state}</Decision>
          <span>
            <code>{file ?? folder}</code>
            <br />
            <span className="muted small">{problem}</span>
          </span>
        </div>
      ))}
    </Panel>
  )
}

function Chains({
  hooks,
  counts,
}: Readonly<{ hooks: readonly EffectiveHook[]; counts: ReadonlyMap<string, HookCounts> }>) {
  const chains = Map.groupBy(hooks, ({ event }) => event)
  if (chains.size === 0)
    return (
      <Empty title="No hook is in force" action={<code>hookhelm init</code>}>
        Agents act without a guard. Add a starter pack, make a hook here, or write a hook file in the
        repository.
      </Empty>
    )
  return [...chains].map(([event, chain]) => (
    <Panel
      key={event}
      title={<code>{event}</code>}
      aside={`${chain[0]?.mode ?? ''} · ${plural(chain.length, 'hook')} · decided / matched, 24 h`}
    >
      {chain.map((hook) => (
        <HookRow key={`${hook.id} ${hook.source.file}`} hook={hook} counts={counts.get(hook.id)} />
      ))}
    </Panel>
  ))
}

const outcomes = {
  decides: 'allow',
  observes: 'allow',
  shadow: 'shadow',
  failing: 'failed',
  off: 'skip',
  other_agent: 'skip',
  untrusted: 'opened',
} as const

function HookRow({
  hook,
  counts,
}: {
  readonly hook: EffectiveHook
  readonly counts: HookCounts | undefined
}) {
  const { id, name, position, source, handler_type, if_expr, state, why, locked, priority } = hook
  const title = hookLabel(name, id)
  return (
    <div className={`${layout.row} ${styles.hook}`} data-hook={title}>
      <span className="faint small">{position ?? '·'}</span>
      <Decision outcome={outcomes[state]}>{state.replace('_', ' ')}</Decision>
      <span className={styles.name}>
        <Link to="/hooks/$hookId" params={{ hookId: id }}>
          <b className="cut" title={why}>
            {title}
          </b>
        </Link>
        {source.file === undefined ? null : (
          <span className={`${styles.place} muted small cut`} title={placeOf(source)}>
            <bdi>{placeOf(source)}</bdi>
          </span>
        )}
        <span className="muted small cut">{why}</span>
      </span>
      <span className="cut" title={if_expr ?? hook.applies_to}>
        {hook.applies_to}
      </span>
      <span className={styles.tags}>
        <Tag>{handler_type}</Tag>
        <Tag>{source.scope ?? source.kind}</Tag>
        {locked ? <Tag>locked</Tag> : null}
        <Tag>priority {priority}</Tag>
      </span>
      <Rates counts={counts} isShadow={state === 'shadow'} />
      {source.kind === 'database' ? <Toggle hook={hook} /> : <span />}
    </div>
  )
}

function Rates({ counts, isShadow }: Readonly<{ counts: HookCounts | undefined; isShadow: boolean }>) {
  if (counts === undefined) return <span className="faint small">no match today</span>
  const { matched, p95_ms } = counts
  return (
    <span className={styles.rates}>
      <DecidedMeter counts={counts} isShadow={isShadow} />
      <span className="muted small">
        {decidedOf(counts)} / {matched}{' '}
        {p95_ms === null ? null : (
          <>
            · p95 <Duration ms={p95_ms} />
          </>
        )}
      </span>
    </span>
  )
}

function Toggle({ hook }: Readonly<{ hook: EffectiveHook }>) {
  const mayChange = useMay('admin')
  const toggle = useAction('hooks.toggle')
  if (!mayChange) return <span className="muted small">{hook.enabled ? 'on' : 'off'}</span>
  return (
    <Switch
      size="xs"
      aria-label={`${hook.enabled ? 'Switch off' : 'Switch on'} ${hookLabel(hook.name, hook.id)}`}
      checked={toggle.isPending ? toggle.variables.enabled : hook.enabled}
      onChange={({ currentTarget }) => toggle.mutate({ hookId: hook.id, enabled: currentTarget.checked })}
    />
  )
}
