/** A shell pattern as a regular expression over a whole text; undefined if it has more than `*`, `?` and `[…]`. */
export function patternToRegex(pattern: string): RegExp | undefined {
  if (/[@!+?*]\(|\[:|\\/.test(pattern) || (pattern.match(/\*+/g)?.length ?? 0) > 2 || pattern.length > 200)
    return undefined
  const source = pattern.replace(/\*+|\?|\[(!|\^)?([^\]\\]+)\]|[\s\S]/g, (found, negated, set) => {
    if (found.startsWith('*')) return '[\\s\\S]*'
    if (found === '?') return '[\\s\\S]'
    if (set !== undefined)
      return `[${negated === undefined ? '' : '^'}${String(set).replace(/[[\]^\\]/g, '\\$&')}]`
    return found.replace(/[.*+?^${}()|[\]\\/-]/, '\\$&')
  })
  try {
    return new RegExp(`^${source}$`, 'u')
  } catch {
    return undefined
  }
}
