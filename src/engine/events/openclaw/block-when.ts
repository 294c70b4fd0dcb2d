import type { ReadVerdict } from '../../core/event.ts'

/** The verdict of a gate whose result blocks with one flag. `reasonKey` names the key of the result that may hold the reason. */
export function blockWhen(flag: string, otherwise: string, reasonKey?: string): ReadVerdict {
  return (result) => {
    if (!result[flag]) return undefined
    const given = reasonKey === undefined ? undefined : result[reasonKey]
    return { kind: 'block', reason: typeof given === 'string' && given ? given : otherwise }
  }
}
