import { measure } from 'mitata'

export type Case = () => unknown

/** Nanoseconds per call of each case: the best batch of several rounds, taken in turns so that noise hits all alike. */
export async function race<K extends string>(
  cases: Readonly<Record<K, Case>>,
  rounds = 5,
): Promise<Record<K, number>> {
  const best: Partial<Record<K, number>> = {}
  const names = Object.keys(cases) as K[]
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const { min } = await measure(cases[name], { min_cpu_time: 120e6, min_samples: 20 })
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, min)
    }
  }
  return best as Record<K, number>
}

/** Bytes allocated per call, without a collection in between. */
export function bytesPerCall(run: () => unknown, calls = 20_000): number {
  for (let i = 0; i < calls; i++) run()
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < calls; i++) run()
    least = Math.min(least, (process.memoryUsage().heapUsed - before) / calls)
  }
  return Math.max(0, least)
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
