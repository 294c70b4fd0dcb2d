/** One key of several parts that cannot run into one another: tenant `a|b` with `c` is not tenant `a` with `b|c`. */
export function guardKey(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}
