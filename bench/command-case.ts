/** What the two halves of the command bench share. */
export const COMMAND = 'cat >/dev/null; echo {}'
export const RUNS = 50
/** Of each round: what is left of it on a machine that does other things too. */
export const QUIET = 0.1

export function timed(run: () => unknown): number {
  const begun = performance.now()
  run()
  return (performance.now() - begun) * 1e6
}

export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0
}
