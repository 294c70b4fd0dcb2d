/** No name has one. */
const BETWEEN = '\0'

/**
 * A tool that an agent calls by a name of its own, as one name that stands for both: a hook written for either must not
 * be passed by.
 */
export function bothNames(name: string, native: string): string {
  return native === '' || native === name ? name : `${name}${BETWEEN}${native}`
}

/** The names that this one stands for; almost always itself. */
export function eachName(name: string): readonly string[] {
  return name.includes(BETWEEN) ? name.split(BETWEEN) : [name]
}
