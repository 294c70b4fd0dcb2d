import { Group } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Decision as EngineDecision } from '../../../../src/engine/core/decision.ts'
import { hookLabel } from '../../../../src/engine/core/hook-title.ts'
import type { ShellEffects } from '../../../../src/engine/core/shell-effects.ts'
import { visibleJson } from '../../../../src/engine/core/values/visible-text.ts'
import type { ExplainedTrace } from '../../../../src/stored-hooks/saving/explain-conditions.ts'
import { useMay } from '../../frame/caller.ts'
import { isTyping, usePageKeys } from '../../frame/keyboard/shortcuts.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { ButtonLink } from '../../parts/buttons/button-link.tsx'
import { CopyMenu } from '../../parts/buttons/copy-menu.tsx'
import { Decision, type Outcome } from '../../parts/decision.tsx'
import { Facts } from '../../parts/facts.tsx'
import { fieldsOf, textOf } from '../../parts/form/fields.ts'
import { agentTitle, plural, shortenId } from '../../parts/format.ts'
import { Diff, Json, printJson } from '../../parts/json.tsx'
import { Loaded, layout, Page, Panel } from '../../parts/layout.tsx'
import { Age, Duration, Id } from '../../parts/values.tsx'
import { RelatedFirings } from '../recovery/firing-list.tsx'
import { Chain, describeChange, isUncertain, nameHooks } from './chain.tsx'
import { Effects } from './effects.tsx'
import styles from './event-page.module.css'
import { readRequest } from './read-request.ts'

const route = getRouteApi('/events/$eventId')

/** One event: what was decided, by which hook, why, and what exactly was sent and answered. */
export function EventPage() {
  return <EventDetails eventId={route.useParams().eventId} />
}

/** The content of the page, which Live also shows beside its list. */
export function EventDetails({ eventId }: Readonly<{ eventId: string }>) {
  // A recorded event never changes; only the explanation of hooks that did not apply may.
  const query = useMethod('events.explain', { eventId }, { staleTime: 60_000 })
  return (
    <Loaded query={query} rows={8}>
      {(explained: Explained) => <EventView {...explained} />}
    </Loaded>
  )
}

/** Decision and trace are stored as the engine made them. */
interface Explained {
  readonly event: {
    readonly event_id: string
    readonly event: string
    readonly session_id: string | null
    readonly duration_ms: number
    readonly created_at: number
    readonly kind: EngineDecision['kind']
  }
  readonly request?: unknown
  readonly decision?: EngineDecision
  readonly trace?: ExplainedTrace
  readonly effects?: ShellEffects
}

/** Decisions and texts name hooks by their ids. */
interface HookNames {
  of(id: string): string
  within(text: string): string
}

const verbs: Readonly<Record<Outcome, string>> = {
  allow: 'Allowed',
  rewrite: 'Rewritten',
  ask: 'Asked',
  block: 'Blocked',
  opened: 'Let pass',
  skip: 'Skipped',
  failed: 'Failed',
  shadow: 'Shadow',
}

function EventView({ event, request, decision = { kind: event.kind }, trace, effects }: Explained) {
  const { agent, folder, tool, what, input } = readRequest(event.event, request)
  const { steps = [], opened = [] } = decision
  const names: HookNames = {
    of: (id) => hookLabel(trace?.hooks.find(({ hook }) => hook === id)?.name, id),
    within: (text) => nameHooks(text, trace?.hooks ?? []),
  }
  return (
    <Page
      title={what ?? event.event}
      heading={<code className={styles.what}>{(what ?? event.event).slice(0, 300)}</code>}
      purpose={
        <Where event={event}>
          {[agentTitle(agent), folder, tool, event.event].filter(Boolean).join(' · ')}
        </Where>
      }
    >
      <div className={layout.stack}>
        <Banner
          decision={decision}
          names={names}
          eventId={event.event_id}
          request={request}
          testable={findTestable(decision, trace)}
          uncertain={(trace?.hooks ?? []).filter(isUncertain).length}
        />
        {trace === undefined ? null : (
          <Panel title="Chain" aside={`${plural(trace.hooks.length, 'hook')} considered`}>
            {trace.hooks.length === 0 ? (
              <p className={layout.note}>No hook listens to this event, so nothing objected.</p>
            ) : (
              <Chain
                trace={trace}
                by={decision.by}
                rewrites={steps}
                opened={new Set(opened.map(({ hook }) => hook))}
              />
            )}
          </Panel>
        )}
        {effects === undefined ? null : <Effects effects={effects} />}
        <RelatedFirings title="What it fired" filter={{ event_id: event.event_id }} />
        <Input input={input} steps={steps} names={names} />
        <div className={layout.columns}>
          <Why decision={decision} trace={trace} names={names} />
          <Panel title="Raw" aside={<Id value={event.event_id} />}>
            <h3 className={styles.part}>what the agent sent</h3>
            <Json value={request} />
            <h3 className={styles.part}>the decision</h3>
            <Json value={decision} />
          </Panel>
        </div>
      </div>
    </Page>
  )
}

function Where({ event, children }: Pick<Explained, 'event'> & { readonly children: ReactNode }) {
  return (
    <span className={styles.where}>
      {children}
      {event.session_id === null ? null : (
        <>
          {' · session '}
          <Link to="/sessions/$sessionId" params={{ sessionId: event.session_id }}>
            {shortenId(event.session_id)}
          </Link>
        </>
      )}
      <span className={styles.when}>
        <Age at={event.created_at} /> · <Duration ms={event.duration_ms} />
      </span>
    </span>
  )
}

interface BannerProps {
  readonly decision: EngineDecision
  readonly names: HookNames
  readonly eventId: string
  readonly request: unknown
  /** The hook that Test opens with this event. */
  readonly testable: string | undefined
  /** How many hooks let the call pass because they could not know all that it does. */
  readonly uncertain: number
}

/** The hook that decided, or else the first that ran. */
function findTestable(decision: EngineDecision, trace: ExplainedTrace | undefined): string | undefined {
  const ran = (trace?.hooks ?? []).filter(({ executions }) => executions.length > 0).map(({ hook }) => hook)
  return decision.by ?? ran[0]
}

function Banner({ decision, names, eventId, request, testable, uncertain }: BannerProps) {
  const { kind, by, reason, message, code, steps = [], opened = [] } = decision
  const outcome: Outcome =
    kind !== 'allow' ? kind : opened.length > 0 ? 'opened' : steps.length > 0 ? 'rewrite' : 'allow'
  const why = reason ?? message ?? code
  return (
    <div className={[layout.banner, styles[outcome]].join(' ')} role="status">
      <Decision outcome={outcome}>
        <b>{verbs[outcome]}</b>
      </Decision>
      <span className={layout.because}>
        {by === undefined ? null : (
          <>
            by <b>{names.of(by)}</b>
          </>
        )}
        {why === undefined ? null : ` — ${names.within(why)}`}
        {outcome === 'rewrite' ? `by ${steps.map(({ hook }) => names.of(hook)).join(', ')}` : null}
        {outcome === 'opened'
          ? opened.map(
              ({ hook, because, code: failure }) =>
                `although ${names.of(hook)} failed (${because}, ${failure}): its policy allows that. `,
            )
          : null}
        {kind === 'allow' && uncertain > 0
          ? ` although ${plural(uncertain, 'hook')} could not know all that it does`
          : null}
      </span>
      <EventActions eventId={eventId} request={request} testable={testable} />
    </div>
  )
}

/** What one can do with the event. */
function EventActions({ eventId, request, testable }: Pick<BannerProps, 'eventId' | 'request' | 'testable'>) {
  const mayCreate = useMay('admin')
  const { event, payload = {} } = fieldsOf(request)
  const address = `${location.origin}/v1/events/${eventId}/explain`
  return (
    <Group gap={8}>
      {testable === undefined ? null : (
        <ButtonLink
          variant="default"
          to="/hooks/$hookId"
          params={{ hookId: testable }}
          search={{ tab: 'test', from: eventId }}
        >
          Open in Test
        </ButtonLink>
      )}
      {mayCreate ? (
        <ButtonLink
          variant="default"
          to="/hooks/$hookId"
          params={{ hookId: 'new' }}
          search={{ from: eventId }}
        >
          Make a hook
        </ButtonLink>
      ) : null}
      <ButtonLink variant="default" to="/recovery" search={{ tab: 'simulate', from: eventId }}>
        Simulate recovery rules
      </ButtonLink>
      <CopyMenu
        texts={[
          ['as a command', `hookhelm events explain ${eventId}`],
          ['as curl', `curl -H "Authorization: Bearer $HOOKHELM_TOKEN" ${address}`],
          ['the request, as a test fixture', printJson(request)],
          // The command reads the payload from stdin, on one line.
          [
            'as a test of the hooks in a folder',
            `hookhelm explain ${textOf(event)} <<'EVENT'\n${visibleJson(payload)}\nEVENT`,
          ],
          ['the link to this page', location.href],
        ]}
      />
    </Group>
  )
}

/** The input before and after each hook that changed it. `n` and `p` step through. */
function Input({
  input,
  steps,
  names,
}: Readonly<{ input: unknown; steps: NonNullable<EngineDecision['steps']>; names: HookNames }>) {
  const [at, setAt] = useState(0)
  usePageKeys((event) => {
    if (isTyping(event)) return
    const move = event.key === 'n' ? 1 : event.key === 'p' ? -1 : 0
    if (move !== 0) setAt(Math.min(Math.max(at + move, 0), Math.max(steps.length - 1, 0)))
  })
  const step = steps[at]
  if (step === undefined)
    return (
      <Panel title="Input" aside="no hook changed it">
        <Json value={input} />
      </Panel>
    )
  return (
    <Panel
      title="Input"
      aside={
        <>
          {at === 0 ? 'original' : `after ${names.of(steps[at - 1]?.hook ?? '')}`} → after{' '}
          {names.of(step.hook)} <kbd>n</kbd> <kbd>p</kbd>
        </>
      }
    >
      <Diff before={step.before} after={step.after} />
    </Panel>
  )
}

function Why({
  decision,
  trace,
  names,
}: Readonly<{ decision: EngineDecision; trace: ExplainedTrace | undefined; names: HookNames }>) {
  const { kind, code, message, reason, grant } = decision
  const { context = [], ignored = [], opened = [], steps = [] } = decision
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['looked at', trace?.subject],
    ['decision', kind],
    ['reason', reason],
    ['the model was told', message ?? reason],
    ['rule', code],
    ['granted', grant ? 'a hook gave permission explicitly' : undefined],
    ...steps.map(
      ({ hook, before, after }) =>
        ['rewrite', `${names.of(hook)} ${describeChange(before, after) || 'changed the input'}`] as const,
    ),
    ...(trace?.merges ?? []).map(
      ({ hook, from, to }) => ['merge', `${names.of(hook)} turned ${from} into ${to}`] as const,
    ),
    ...ignored.map(({ hook, reason: why }) => ['not applied', `${names.of(hook)}: ${why}`] as const),
    ...opened.map(
      ({ hook, because }) =>
        ['opened', `${names.of(hook)} failed (${because}); its policy allows that`] as const,
    ),
    ...context.map((text) => ['added context', text] as const),
  ]
  return (
    <Panel title="Why">
      <Facts
        facts={facts.map(([name, value]) => [name, value && names.within(value.slice(0, 2_000))])}
        className={styles.facts}
      />
    </Panel>
  )
}
