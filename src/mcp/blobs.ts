import { isRecord } from '../engine/core/check.ts'

/** Longer ones are pictures and sounds, which no hook reads as text and which would not fit into an event. */
const MAX_INLINE = 65_536

export interface Lightened {
  readonly result: unknown
  /** Puts back what was taken out, wherever a hook left its place. */
  restore(value: unknown): unknown
}

/** A result without the data of large pictures, sounds and files; what stands there instead tells their size. */
export function withoutBlobs(result: unknown): Lightened {
  const taken = new Map<string, string>()
  const take = (text: unknown) => {
    if (typeof text !== 'string' || text.length <= MAX_INLINE) return text
    const place = `[hookhelm: ${text.length} characters of base64, number ${taken.size + 1}]`
    taken.set(place, text)
    return place
  }
  const putBack = (text: unknown) => (typeof text === 'string' ? (taken.get(text) ?? text) : text)
  const light = eachBlob(result, take)
  return {
    result: taken.size === 0 ? result : light,
    restore: (value) => (taken.size === 0 ? value : eachBlob(value, putBack)),
  }
}

function eachBlob(result: unknown, change: (text: unknown) => unknown): unknown {
  if (Array.isArray(result)) return result.map((part) => partOf(part, change))
  if (!isRecord(result) || !Array.isArray(result.content)) return result
  return { ...result, content: result.content.map((part) => partOf(part, change)) }
}

function partOf(part: unknown, change: (text: unknown) => unknown): unknown {
  if (!isRecord(part)) return part
  if ((part.type === 'image' || part.type === 'audio') && 'data' in part)
    return { ...part, data: change(part.data) }
  if (part.type === 'resource' && isRecord(part.resource) && 'blob' in part.resource)
    return { ...part, resource: { ...part.resource, blob: change(part.resource.blob) } }
  return part
}
