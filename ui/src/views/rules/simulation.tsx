import { Select } from '@mantine/core'
import type { Result } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { Decision, type Outcome } from '../../parts/decision.tsx'
import { formatClock, shortenId, showControls } from '../../parts/format.ts'
import { Empty } from '../../parts/layout.tsx'
import styles from '../recovery/recovery.module.css'
import { STORED } from './rule-draft.ts'

type Simulation = Result<'rules.simulate'>
type SimulatedRule = Simulation['rules'][number]

/** The latest events. The chosen one is in the address, so that a simulation can be sent to a colleague. */
export function EventPicker({
  from,
  onPick,
}: Readonly<{ from: string | undefined; onPick: (eventId: string | undefined) => void }>) {
  const query = useMethod('events.list', { limit: 100 })
  useRefreshOnEvents(['events.list'], { everyMs: 5_000 })
  const events = query.data?.events ?? []
  const listed = events.map(({ event_id, event: name, what, created_at }) => ({
    value: event_id,
    label: `${formatClock(created_at)}  ${name}  ${showControls((what ?? '').slice(0, 80))}`,
  }))
  const isOlder = from !== undefined && !events.some(({ event_id }) => event_id === from)
  return (
    <Select
      label="Recorded event"
      description="Shows what each rule would do if this event happened now."
      placeholder={query.isPending ? 'loading' : events.length === 0 ? 'none recorded yet' : 'choose one'}
      data={isOlder ? [{ value: from, label: `event ${shortenId(from)}` }, ...listed] : listed}
      value={from ?? null}
      onChange={(chosen) => onPick(chosen ?? undefined)}
      maxDropdownHeight={320}
      searchable
      clearable
    />
  )
}

/** What each rule would make of the event: those that match first. */
export function SimulatedRules({ simulation }: Readonly<{ simulation: Simulation }>) {
  const { rules, event, outcome, enabled } = simulation
  if (rules.length === 0)
    return <Empty title="No rule yet">A rule that you save appears here with its answer.</Empty>
  const rank = ({ enabled: isOn, matches }: SimulatedRule) => (matches ? (isOn ? 0 : 1) : 2)
  const sorted = rules.toSorted((left, right) => rank(left) - rank(right))
  const matching = rules.filter((rule) => rank(rule) === 0).length
  return (
    <div data-simulation>
      <p className={styles.note}>
        <code>{event}</code> with the outcome <b>{outcome}</b>: rules that match: {matching} of {rules.length}
        . Nothing happened.
        {enabled ? null : ' Recovery rules are switched off, so nothing would fire.'}
      </p>
      {sorted.map((rule) => (
        <SimulatedRow key={`${rule.source} ${rule.id}`} rule={rule} />
      ))}
    </div>
  )
}

function SimulatedRow({ rule }: Readonly<{ rule: SimulatedRule }>) {
  const { id, source, actions } = rule
  const [outcome, verdict] = verdictOf(rule)
  return (
    <div className={styles.simulated} data-rule={id}>
      <div className={styles.simulatedHead}>
        <b className="cut">{id}</b>
        <Decision outcome={outcome}>{verdict}</Decision>
      </div>
      {source === STORED ? null : <div className="muted small cut">{source}</div>}
      <Unmet rule={rule} />
      {rule.guard === undefined ? null : <p className={styles.guard}>{rule.guard}</p>}
      {actions.length === 0 ? null : (
        <ol className={styles.plan}>
          {actions.map(({ id: action, would, skipped }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two actions may have the same id
            <li key={index}>
              <code>{action}</code> would {would.slice(0, 500)}
              {skipped === undefined ? null : <span className="muted small"> — skipped: {skipped}</span>}
            </li>
          ))}
        </ol>
      )}
    </div>
  )
}

function verdictOf({ enabled, matches, guard }: SimulatedRule): readonly [Outcome, string] {
  if (!matches) return ['skip', 'does not match']
  if (!enabled) return ['skip', 'switched off']
  return guard === undefined ? ['allow', 'would fire'] : ['skip', 'would not fire now']
}

/** The first condition that fails, with the wanted and the actual value. */
function Unmet({ rule: { unmet } }: Readonly<{ rule: SimulatedRule }>) {
  if (unmet === undefined) return null
  const shown = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 300))
  return (
    <dl className={styles.unmet}>
      {Object.entries({
        condition: unmet.condition,
        wanted: shown(unmet.wanted),
        actual: shown(unmet.actual),
      }).map(([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{text}</code>
          </dd>
        </div>
      ))}
    </dl>
  )
}
