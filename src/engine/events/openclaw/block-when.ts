import type { ReadVerdict } from '../../core/event.ts'

interface BlockWords {
  /** The result key that carries the reason, if the event has one. */
  readonly reason?: string
  readonly otherwise: string
}

/** The verdict of a gate that is closed by one flag of its result. */
export function blockWhen(flag: string, words: BlockWords): ReadVerdict {
  return (result) => {
    if (!result[flag]) return undefined
    const given = words.reason === undefined ? undefined : result[words.reason]
    return { kind: 'block', reason: typeof given === 'string' && given ? given : words.otherwise }
  }
}
