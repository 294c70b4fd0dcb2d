/** No name has one. */
const BETWEEN = '\0'

/**
 * A tool that an agent calls by names of its own, as one name that stands for all: a hook written for any of them must not
 * be passed by.
 */
export function bothNames(name: string, native: unknown): string {
  const others = (Array.isArray(native) ? native : [native]).filter(
    (other): other is string => typeof other === 'string' && other !== '' && other !== name,
  )
  return others.length === 0 ? name : [name, ...others].join(BETWEEN)
}

/** The names that this one stands for; almost always itself. */
export function eachName(name: string): readonly string[] {
  return name.includes(BETWEEN) ? name.split(BETWEEN) : [name]
}
