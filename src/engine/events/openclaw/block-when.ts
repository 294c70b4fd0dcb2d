import type { ReadVerdict } from '../../core/event.ts'

interface BlockReason {
  /** The result key that carries the reason, if the event has one. */
  readonly reason?: string
  readonly otherwise: string
}

/** The verdict of a gate whose result blocks with one flag. */
export function blockWhen(flag: string, from: BlockReason): ReadVerdict {
  return (result) => {
    if (!result[flag]) return undefined
    const given = from.reason === undefined ? undefined : result[from.reason]
    return { kind: 'block', reason: typeof given === 'string' && given ? given : from.otherwise }
  }
}
