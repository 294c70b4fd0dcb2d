import { codingAgents } from '../../../src/engine/core/coding-agents.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A duration with one unit: `0.4 ms`, `4.2 ms`, `320 ms`, `1.4 s`, `3 min`. */
export function formatDuration(ms: number): string {
  if (ms < 100) return `${trimZero(ms.toFixed(1))} ms`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < MINUTE) return `${trimZero((ms / 1_000).toFixed(1))} s`
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`
  if (ms < DAY) return `${trimZero((ms / HOUR).toFixed(1))} h`
  return `${Math.round(ms / DAY)} d`
}

function trimZero(text: string): string {
  return text.endsWith('.0') ? text.slice(0, -2) : text
}

/** How long ago: `now`, `12 s`, `9 min`, `3 h`, then the day. */
export function formatAge(at: number, now: number): string {
  const age = now - at
  if (age < 5_000) return 'now'
  if (age < MINUTE) return `${Math.floor(age / 1_000)} s`
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min`
  if (age < DAY) return `${Math.floor(age / HOUR)} h`
  return new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
}

/** Making a format takes longer than a row of a table, so each exists once. */
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const instant = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

export function formatClock(at: number): string {
  return clock.format(at)
}

/** The exact instant, for titles. */
export function formatInstant(at: number): string {
  return instant.format(at)
}

/** Spaces between groups of three digits. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+(?!\d))/g, ' ')
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** What JSX does to every text, for texts that go elsewhere: options of lists, notifications, the clipboard. */
export { visibleText as showControls } from '../../../src/engine/core/values/visible-text.ts'

/** The first and last characters of an id: enough to recognise it. */
export function shortenId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 4)}…${id.slice(-4)}`
}

/** The name that people know a coding agent by. */
export function agentTitle(agent: string | null | undefined): string {
  return agent === null || agent === undefined
    ? 'An agent'
    : (codingAgents.find(({ name }) => name === agent)?.title ?? agent)
}

/** The file of a hook, with its line. */
export function placeOf({ file = '', line }: { readonly file?: string; readonly line?: number }): string {
  return line === undefined ? file : `${file}:${line}`
}
