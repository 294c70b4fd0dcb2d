/** `OC-52`, a list `OC-21 OC-22`, a range `OC-60…63` or `OC-60..OC-63`. */
const behaviour = /\b(CH|OH|GC|OC|AO)-(\d+)(?:\s*(?:…|\.{2,3}|–)\s*(?:\1-)?(\d+))?/g

/** `4.7 #104`, or several of one section: `4.7 #104 #105`. */
const threat = /\b(4\.\d+)((?:[\s,]*#\d+)+)/g

/** The behaviour ids that a test title names. */
export function namedBehaviours(title: string): string[] {
  return [...title.matchAll(behaviour)].flatMap(([, prefix, first, last]) => {
    const from = Number(first)
    const to = last === undefined ? from : Number(last)
    return Array.from({ length: Math.max(to - from + 1, 1) }, (_, step) => `${prefix}-${from + step}`)
  })
}

/** The threat rows that a test title names, as `4.7 #104`. */
export function namedThreats(title: string): string[] {
  return [...title.matchAll(threat)].flatMap(([, section, rows = '']) =>
    [...rows.matchAll(/#(\d+)/g)].map(([, row]) => `${section} #${row}`),
  )
}
