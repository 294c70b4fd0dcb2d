/** Separates the names of one tool. A name cannot contain it. */
const SEPARATOR = '\0'

/**
 * Joins the name of a tool with the names that its agent uses for it. A matcher tests each of them, so that a hook
 * written for any of the names matches.
 */
export function joinToolNames(name: string, native: unknown): string {
  const others = (Array.isArray(native) ? native : [native]).filter(
    (other): other is string => typeof other === 'string' && other !== '' && other !== name,
  )
  return others.length === 0 ? name : [name, ...others].join(SEPARATOR)
}

/** The names that `joinToolNames` joined; almost always one. */
export function splitToolNames(name: string): readonly string[] {
  return name.includes(SEPARATOR) ? name.split(SEPARATOR) : [name]
}
