import { formatDuration, formatInstant, plural } from '../../../parts/format.ts'
import { Json } from '../../../parts/json.tsx'
import { Empty, Panel } from '../../../parts/layout.tsx'
import type { SessionEvent } from './run-events.ts'
import styles from './run-log.module.css'

/** More rows than this make a page slow; the oldest are left to the command line. */
const MAX_ROWS = 500

/** Every event of the run as it arises. */
export function RunLog({
  events,
  createdAt,
  isLive,
}: Readonly<{ events: readonly SessionEvent[]; createdAt: number; isLive: boolean }>) {
  const shown = events.slice(-MAX_ROWS)
  return (
    <Panel title="Log" aside={`${plural(events.length, 'event')}${isLive ? ' · live' : ''}`}>
      {events.length === 0 ? (
        <Empty title="No event yet">What the run does appears here by itself.</Empty>
      ) : (
        <ol aria-label="Events of the run">
          {shown.length < events.length ? (
            <li className={`${styles.more} lined`}>
              {plural(events.length - shown.length, 'older event')} not shown
            </li>
          ) : null}
          {shown.map((event) => (
            <li key={event.event_id} className="lined" data-type={event.event_type}>
              <details>
                <summary className={styles.row}>
                  <time
                    className={styles.time}
                    dateTime={event.timestamp}
                    title={formatInstant(Date.parse(event.timestamp))}
                  >
                    +{formatDuration(Math.max(0, Date.parse(event.timestamp) - createdAt))}
                  </time>
                  <code className={event.event_type.endsWith('failed') ? styles.bad : ''}>
                    {event.event_type}
                  </code>
                  <span className={`${styles.text} muted cut`}>{describeEvent(event).slice(0, 500)}</span>
                </summary>
                <Json value={event} />
              </details>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}

/** The most telling field of an event. */
function describeEvent(event: SessionEvent): string {
  const { hook_type, target_type, target_name, block_reason, error, action, result_text, status } = event
  const hook =
    typeof hook_type === 'string' ? `${hook_type} · ${String(target_type)} ${String(target_name)}` : ''
  const said = [block_reason, error, result_text, event.message, event.text, action, status].find(
    (text) => typeof text === 'string',
  )
  if (said !== undefined) return [hook, said].filter((part) => part !== '').join(' · ')
  if (hook !== '') return hook
  const { event_id: _, event_type, session_id, run_id, timestamp, ...rest } = event
  return Object.keys(rest).length === 0 ? '' : JSON.stringify(rest).slice(0, 500)
}
