import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Result } from '../../gateway/call.ts'
import { formatDuration, plural } from '../../parts/format.ts'
import { layout } from '../../parts/layout.tsx'
import { Age } from '../../parts/values.tsx'
import styles from './home-page.module.css'
import { useConnectedAgentsQuery, useHoursQuery } from './home-queries.ts'

/** Whether anything is wrong, in a few words. */
export function Headline({ status }: Readonly<{ status: Result<'status'> | undefined }>) {
  const { lines = [], hooks, deadDeliveries } = status ?? {}
  const tripped = hooks?.tripped.length ?? 0
  if (lines.some(({ state }) => state === 'bad')) return 'Something is wrong'
  if (tripped > 0) return `Guarded, with ${plural(tripped, 'hook')} switched off`
  const hasRemarks = lines.some(({ state }) => state === 'warn') || (deadDeliveries?.count ?? 0) > 0
  return hasRemarks ? 'Guarded, with remarks' : 'Your agents are guarded'
}

interface HealthProps {
  readonly status: Result<'status'>
  readonly lastAt: number | undefined
}

/** One line when all is well, and otherwise one line for each thing that is not, with a link to what mends it. */
export function Health({ status, lastAt }: HealthProps) {
  const { hooks, deadDeliveries } = status
  const wrong = status.lines.filter(({ state }) => state !== 'ok')
  const tripped = hooks.tripped.length
  const isWell = wrong.length === 0 && tripped === 0
  return (
    <section className={layout.panel} aria-label="Health">
      {isWell ? (
        <Line state="ok">
          <b>{answering(hooks.total - hooks.off.length)}</b>{' '}
          <span className="muted">
            <Summary lastAt={lastAt} />
          </span>
        </Line>
      ) : null}
      {wrong.map(({ name, state, text }) => (
        <Line key={name} state={state} link={remedies[name]}>
          <b>{name}</b> {text}
        </Line>
      ))}
      {tripped === 0 ? null : (
        <Line state="bad" link={<Link to="/guards">Review</Link>}>
          <b>{plural(tripped, 'hook')} switched off by the circuit breaker</b>
        </Line>
      )}
      {deadDeliveries.count === 0 ? null : (
        <Line state="warn" link={<Link to="/guards">Replay</Link>}>
          <b>{plural(deadDeliveries.count, 'delivery', 'deliveries')} given up</b>
        </Line>
      )}
    </section>
  )
}

function answering(hooks: number): string {
  if (hooks === 0) return 'No hook is in force.'
  return hooks === 1 ? 'The one hook answers.' : `All ${plural(hooks, 'hook')} answer.`
}

/** Where a person looks into a part of the gateway that is not well. */
const remedies: Readonly<Record<string, ReactNode>> = {
  hooks: <Link to="/hooks">Review</Link>,
  'hook files': <Link to="/hooks">Review</Link>,
  deliveries: <Link to="/guards">Review</Link>,
  audit: <Link to="/audit">Review</Link>,
  approvals: <Link to="/approvals">Review</Link>,
}

function Summary({ lastAt }: Pick<HealthProps, 'lastAt'>) {
  const agents = useConnectedAgentsQuery().data?.length ?? 0
  const hours = useHoursQuery().data?.buckets ?? []
  const median = hours.findLast(({ p50_ms }) => p50_ms !== null)?.p50_ms
  return (
    <>
      {agents === 0 ? null : `${plural(agents, 'agent')} connected, `}
      {lastAt === undefined ? null : (
        <>
          {agents === 0 ? 'Last' : 'last'} event <Age at={lastAt} /> ago.
        </>
      )}{' '}
      {median == null ? null : `Median cost ${formatDuration(median)} per event.`}
    </>
  )
}

function Line({
  state,
  link,
  children,
}: Readonly<{ state: 'ok' | 'warn' | 'bad'; link?: ReactNode; children: ReactNode }>) {
  return (
    <div className={`${styles.line} lined`}>
      <span className={`${styles.dot} ${styles[state]}`} aria-hidden />
      <span>{children}</span>
      {link}
    </div>
  )
}
