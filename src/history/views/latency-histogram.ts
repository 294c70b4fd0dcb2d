import { histogramColumns, histogramLimits as limits } from '../view-tables.ts'

/** The column that counts a duration. */
export function histogramColumn(ms: number): string {
  const bucket = limits.findIndex((limit) => ms <= limit)
  return `d${bucket < 0 ? limits.length : bucket}`
}

/** Estimates a quantile, interpolated within its bucket; null without any value. */
export function histogramQuantile(row: Readonly<Record<string, unknown>>, quantile: number): number | null {
  const counts = histogramColumns.map((column) => Number(row[column] ?? 0))
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const rank = quantile * total
  let below = 0
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) {
      const from = bucket === 0 ? 0 : (limits[bucket - 1] ?? 0)
      const upto = limits[bucket] ?? from
      return Math.round((from + ((upto - from) * (rank - below)) / count) * 1_000) / 1_000
    }
    below += count
  }
  return limits.at(-1) ?? null
}
