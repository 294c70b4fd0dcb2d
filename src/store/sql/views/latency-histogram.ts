/** The upper limits of the buckets in milliseconds; the last bucket holds everything above. Stored rows depend on them. */
const limits = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000] as const

/** One column per bucket, so that the database can add histograms up. */
export const histogramColumns: readonly string[] = Array.from(
  { length: limits.length + 1 },
  (_, bucket) => `d${bucket}`,
)

/** The column that counts a duration. */
export function histogramColumn(ms: number): string {
  const bucket = limits.findIndex((limit) => ms <= limit)
  return `d${bucket < 0 ? limits.length : bucket}`
}

/** A condition in SQL for each column, for counting rows that exist already. */
export function histogramConditions(duration: string): readonly string[] {
  return histogramColumns.map((_, bucket) => {
    const above = bucket === 0 ? [] : [`${duration} > ${limits[bucket - 1]}`]
    const upto = bucket === limits.length ? [] : [`${duration} <= ${limits[bucket]}`]
    return [...above, ...upto].join(' and ')
  })
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
