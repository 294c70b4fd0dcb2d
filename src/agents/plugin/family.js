const MAX = 10_000

/** Which session started which: sub-agents have sessions of their own, and later events name only those. */
export function openFamily() {
  const parents = new Map()

  return {
    adopt(child, parent) {
      if (typeof child !== 'string' || typeof parent !== 'string' || child === parent) return
      if (parents.size >= MAX) parents.delete(parents.keys().next().value)
      parents.set(child, parent)
    },
    /** Whose sub-agent this session is, if it is one. */
    of(session) {
      const parent = parents.get(session)
      if (parent === undefined) return undefined
      let root = parent
      for (let up = 0; up < 100 && parents.has(root); up++) root = parents.get(root)
      return { root, parent, lane: session }
    },
  }
}
