const MAX = 10_000

/** Sub-agents have their own sessions, and later events name only those. Records which session started which. */
export function createSessionParents() {
  const parents = new Map()

  return {
    add(child, parent) {
      if (typeof child !== 'string' || typeof parent !== 'string' || child === parent) return
      if (parents.size >= MAX) parents.delete(parents.keys().next().value)
      parents.set(child, parent)
    },
    /** The root, parent and lane of a sub-agent's session, or undefined. */
    find(session) {
      const parent = parents.get(session)
      if (parent === undefined) return undefined
      let root = parent
      for (let up = 0; up < 100 && parents.has(root); up++) root = parents.get(root)
      return { root, parent, lane: session }
    },
  }
}
