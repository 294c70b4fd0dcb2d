import { VisuallyHidden } from '@mantine/core'
import { useMemo, useState } from 'react'
import uPlot from 'uplot'
import { formatClock, formatDuration } from '../../parts/format.ts'
import { useNow } from '../../parts/values.tsx'
import styles from './decisions-chart.module.css'
import { Plot, type PlotProps } from './plot.tsx'

/** From the bottom of a bar to its top. */
const outcomes = ['allow', 'rewrite', 'ask', 'block'] as const
type Outcome = (typeof outcomes)[number]

/** The colour role of a bar: most calls are allowed, and must not be all that one sees. */
function barRole(outcome: Outcome): string {
  return outcome === 'allow' ? 'allow-bar' : outcome
}

interface Bucket extends Readonly<Record<Outcome, number>> {
  readonly at: number
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

const MINUTE = 60_000
const MINUTES = 60
const empty = { allow: 0, rewrite: 0, ask: 0, block: 0, p50_ms: null, p95_ms: null }

/** Decisions per minute, stacked by outcome, above the latency that hooks added. The legend filters. */
export function DecisionsChart({ buckets }: Readonly<{ buckets: readonly Bucket[] }>) {
  const [hidden, setHidden] = useState<ReadonlySet<Outcome>>(new Set())
  const [pointed, setPointed] = useState<number>()
  const thisMinute = Math.floor(useNow() / MINUTE) * MINUTE
  const minutes = useMemo(() => lastHour(buckets, thisMinute), [buckets, thisMinute])
  const counts = useMemo(() => stackCounts(minutes, hidden), [minutes, hidden])
  const latency = useMemo(() => latencyLines(minutes), [minutes])
  const toggle = (outcome: Outcome) => {
    const next = new Set(hidden)
    if (!next.delete(outcome)) next.add(outcome)
    setHidden(next)
  }
  const shown = outcomes.filter((outcome) => !hidden.has(outcome))
  return (
    <div className={styles.chart}>
      <Plot options={countOptions} data={counts} onPoint={setPointed} />
      <div className={styles.unit}>added latency, p50 and p95</div>
      <Plot options={latencyOptions} data={latency} onPoint={setPointed} />
      <div className={styles.legend}>
        {outcomes.map((outcome) => (
          <button
            key={outcome}
            type="button"
            aria-pressed={!hidden.has(outcome)}
            className={hidden.has(outcome) ? styles.off : undefined}
            onClick={() => toggle(outcome)}
          >
            <i style={{ background: `var(--${barRole(outcome)})` }} aria-hidden /> {outcome}
          </button>
        ))}
        <span>{readOut(minutes, shown, pointed)}</span>
      </div>
      <ValueTable minutes={minutes} />
    </div>
  )
}

/** The chart as text. Minutes without a decision are left out. */
function ValueTable({ minutes }: Readonly<{ minutes: readonly Bucket[] }>) {
  const busy = minutes.filter((minute) => totalOf(minute, outcomes) > 0)
  return (
    <VisuallyHidden>
      <table>
        <caption>Decisions per minute in the last hour</caption>
        <thead>
          <tr>
            {['minute', ...outcomes, 'p50', 'p95'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {busy.map((minute) => (
            <tr key={minute.at}>
              <th scope="row">{formatMinute(minute.at)}</th>
              {outcomes.map((outcome) => (
                <td key={outcome}>{minute[outcome]}</td>
              ))}
              <td>{formatDuration(minute.p50_ms ?? 0)}</td>
              <td>{formatDuration(minute.p95_ms ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </VisuallyHidden>
  )
}

/** The minutes up to now: a page that nothing happens on still moves. */
function lastHour(buckets: readonly Bucket[], thisMinute: number): readonly Bucket[] {
  const known = new Map(buckets.map((bucket) => [bucket.at, bucket]))
  return Array.from({ length: MINUTES }, (_, index) => {
    const at = thisMinute - (MINUTES - 1 - index) * MINUTE
    return known.get(at) ?? { at, ...empty }
  })
}

/** The tallest bars come first, because later series are drawn over them. */
function stackCounts(minutes: readonly Bucket[], hidden: ReadonlySet<Outcome>): uPlot.AlignedData {
  const stacks = outcomes.toReversed().map((outcome) => {
    const below = outcomes.slice(0, outcomes.indexOf(outcome) + 1).filter((each) => !hidden.has(each))
    return minutes.map((minute) => totalOf(minute, below) || null)
  })
  return [minutes.map(({ at }) => at / 1_000), ...stacks]
}

function latencyLines(minutes: readonly Bucket[]): uPlot.AlignedData {
  return [
    minutes.map(({ at }) => at / 1_000),
    minutes.map(({ p50_ms }) => p50_ms),
    minutes.map(({ p95_ms }) => p95_ms),
  ]
}

function totalOf(minute: Bucket, counted: readonly Outcome[]): number {
  return counted.reduce((sum, outcome) => sum + minute[outcome], 0)
}

function readOut(minutes: readonly Bucket[], shown: readonly Outcome[], pointed: number | undefined): string {
  const minute = pointed === undefined ? undefined : minutes[pointed]
  if (minute === undefined) {
    const most = Math.max(...minutes.map((each) => totalOf(each, shown)), 0)
    return most === 0 ? 'no decision in the last hour' : `most in a minute: ${most}`
  }
  const counted = shown.filter((outcome) => minute[outcome] > 0)
  const parts = [
    counted.map((outcome) => `${minute[outcome]} ${outcome}`).join(', ') || 'none',
    minute.p50_ms === null ? '' : `p50 ${formatDuration(minute.p50_ms)}`,
    minute.p95_ms === null ? '' : `p95 ${formatDuration(minute.p95_ms)}`,
  ]
  return `${formatMinute(minute.at)} · ${parts.filter(Boolean).join(' · ')}`
}

function formatMinute(at: number): string {
  return formatClock(at).slice(0, 5)
}

type ColorOf = Parameters<PlotProps['options']>[0]

const font = '11px "Inter Variable", sans-serif'
const counts = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000]

/** What both charts share: the same hour, one crosshair, quiet axes. */
function baseOptions(color: ColorOf) {
  const axis = { stroke: color('faint'), font, ticks: { show: false } }
  return {
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, sync: { key: 'home' } },
    padding: [8, 18, 6, 0] as [number, number, number, number],
    x: { range: (_: uPlot, min: number, max: number) => [min - 30, max + 30] as [number, number] },
    axis,
    grid: { stroke: color('line'), width: 1 },
  }
}

function countOptions(color: ColorOf): ReturnType<PlotProps['options']> {
  const { x, axis, grid, ...base } = baseOptions(color)
  const paths = uPlot.paths.bars?.({ size: [0.74, 14] })
  const bars = outcomes.toReversed().map((outcome) => ({
    label: outcome,
    fill: color(barRole(outcome)),
    stroke: color(barRole(outcome)),
    width: 0,
    points: { show: false },
    ...(paths === undefined ? {} : { paths }),
  }))
  return {
    ...base,
    height: 150,
    scales: { x, y: { range: (_, __, max) => [0, Math.max(max, 4) * 1.04] } },
    series: [{}, ...bars],
    axes: [
      { ...axis, show: false },
      { ...axis, grid, size: 52, incrs: counts },
    ],
  }
}

function latencyOptions(color: ColorOf): ReturnType<PlotProps['options']> {
  const { x, axis, grid, ...base } = baseOptions(color)
  const line = (label: string, stroke: string) => ({
    label,
    stroke,
    width: 1.5,
    spanGaps: true,
    points: { show: true, size: 4, fill: stroke },
  })
  return {
    ...base,
    height: 92,
    scales: { x, y: { range: (_, __, max) => [0, Math.max(max ?? 0, 1) * 1.1] } },
    series: [{}, line('p50', color('accent')), line('p95', color('muted'))],
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: 70,
        values: (_, seconds) => seconds.map((second) => formatMinute(second * 1_000)),
      },
      { ...axis, grid, size: 52, space: 28, values: (_, values) => values.map((ms) => formatDuration(ms)) },
    ],
  }
}
