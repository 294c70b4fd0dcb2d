import { useState } from 'react'
import { formatClock } from '../../parts/format.ts'
import styles from './decisions-chart.module.css'

const outcomes = ['allow', 'rewrite', 'ask', 'block'] as const
type Outcome = (typeof outcomes)[number]

type Bucket = Readonly<Record<Outcome, number>> & { readonly at: number }

interface DecisionsChartProps {
  readonly buckets: readonly Bucket[]
}

const WIDTH = 720
const HEIGHT = 150

/** Stacked bars by outcome. The legend filters; hovering reads one minute. */
export function DecisionsChart({ buckets }: DecisionsChartProps) {
  const [hidden, setHidden] = useState<ReadonlySet<Outcome>>(new Set())
  const [pointed, setPointed] = useState<number>()
  const shown = outcomes.filter((outcome) => !hidden.has(outcome))
  const totals = buckets.map((bucket) => shown.reduce((sum, outcome) => sum + bucket[outcome], 0))
  const highest = Math.max(...totals, 4)
  const step = WIDTH / Math.max(buckets.length, 1)
  const bucket = pointed === undefined ? undefined : buckets[pointed]
  const toggle = (outcome: Outcome) => {
    const next = new Set(hidden)
    if (!next.delete(outcome)) next.add(outcome)
    setHidden(next)
  }
  return (
    <div className={styles.chart}>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Decisions per minute: ${totals.reduce((sum, total) => sum + total, 0)} in the last hour`}
        onMouseMove={({ nativeEvent, currentTarget }) =>
          setPointed(Math.floor((nativeEvent.offsetX / currentTarget.clientWidth) * buckets.length))
        }
        onMouseLeave={() => setPointed(undefined)}
      >
        {buckets.map((minute, index) => {
          let top = HEIGHT
          return (
            <g key={minute.at} className={index === pointed ? styles.pointed : undefined}>
              {shown.map((outcome) => {
                const height = (minute[outcome] / highest) * (HEIGHT - 6)
                top -= height
                return height === 0 ? null : (
                  <rect
                    key={outcome}
                    className={styles[outcome]}
                    x={index * step + 1}
                    width={Math.max(step - 2, 1)}
                    y={top}
                    height={Math.max(height, 1.5)}
                  />
                )
              })}
            </g>
          )
        })}
        <line x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className={styles.base} />
      </svg>
      <div className={styles.legend}>
        {outcomes.map((outcome) => (
          <button
            key={outcome}
            type="button"
            aria-pressed={!hidden.has(outcome)}
            className={hidden.has(outcome) ? styles.off : undefined}
            onClick={() => toggle(outcome)}
          >
            <i className={styles[outcome]} aria-hidden /> {outcome}
          </button>
        ))}
        <span>
          {bucket === undefined
            ? `most in a minute: ${Math.max(...totals, 0)}`
            : `${formatClock(bucket.at).slice(0, 5)} · ${
                shown
                  .filter((outcome) => bucket[outcome] > 0)
                  .map((outcome) => `${bucket[outcome]} ${outcome}`)
                  .join(', ') || 'none'
              }`}
        </span>
      </div>
    </div>
  )
}
