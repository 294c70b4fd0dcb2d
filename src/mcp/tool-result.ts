import { isRecord } from '../engine/core/schema/check.ts'

export type McpResult = Readonly<Record<string, unknown>>

const OPENED = 'hookhelm/opened'
/** Clients find the task and the server of a result by these keys, so a hook cannot remove them. */
const KEPT_META = ['io.modelcontextprotocol/related-task', 'io.modelcontextprotocol/serverInfo']

/** Clients of revision 2026-07-28 refuse a result without a `resultType`. */
export function errorResult(text: string, hasResultType: boolean): McpResult {
  const result = { content: [{ type: 'text', text }], isError: true }
  return hasResultType ? { resultType: 'complete', ...result } : result
}

/** Returns the result that a hook gave instead of the original, in the shape that clients read. */
export function mcpResultFrom(input: unknown, original: unknown): McpResult {
  const { resultType: _, ...shaped } = shapeResult(input)
  const known = isRecord(original) ? original : {}
  const result = 'resultType' in known ? { resultType: known.resultType, ...shaped } : shaped
  const kept = Object.entries(isRecord(known._meta) ? known._meta : {}).filter(([key]) =>
    KEPT_META.includes(key),
  )
  if (kept.length === 0 || isRecord(result._meta)) return result
  return { ...result, _meta: Object.fromEntries(kept) }
}

function shapeResult(input: unknown): McpResult {
  if (typeof input === 'string') return { content: [{ type: 'text', text: input }] }
  if (Array.isArray(input)) return { content: input }
  if (isRecord(input) && (Array.isArray(input.content) || isRecord(input.structuredContent))) return input
  return { content: [{ type: 'text', text: JSON.stringify(input) }] }
}

/** Returns the result with the context that hooks add for the model at its end. */
export function resultWithContext(result: McpResult, context: readonly string[]): McpResult {
  if (context.length === 0) return result
  const content = Array.isArray(result.content) ? result.content : []
  return { ...result, content: [...content, { type: 'text', text: context.join('\n') }] }
}

/** Returns the result with a mark that no hook decided about it, and why. */
export function resultWithOpened(result: McpResult, why: string | undefined): McpResult {
  if (why === undefined) return result
  return { ...result, _meta: { ...(isRecord(result._meta) ? result._meta : {}), [OPENED]: why } }
}

/** Returns the text parts of a result, as the error that failure hooks receive. */
export function resultText({ content }: McpResult): string {
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((part) => (isRecord(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
}

/** Longer base64 data is not sent to hooks: no hook reads it as text, and it would exceed the size of an event. */
const MAX_INLINE = 65_536

export interface ResultWithoutBlobs {
  readonly result: unknown
  /** Puts the data back wherever a hook left its placeholder. */
  restore(value: unknown): unknown
}

/** Replaces the data of large images, sounds and files by placeholders that state their size. */
export function detachBlobs(result: unknown): ResultWithoutBlobs {
  const detached = new Map<string, string>()
  const detach = (text: unknown) => {
    if (typeof text !== 'string' || text.length <= MAX_INLINE) return text
    const placeholder = `[hookhelm: ${text.length} characters of base64, number ${detached.size + 1}]`
    detached.set(placeholder, text)
    return placeholder
  }
  const attach = (text: unknown) => (typeof text === 'string' ? (detached.get(text) ?? text) : text)
  const withoutData = mapBlobs(result, detach)
  return {
    result: detached.size === 0 ? result : withoutData,
    restore: (value) => (detached.size === 0 ? value : mapBlobs(value, attach)),
  }
}

function mapBlobs(result: unknown, change: (text: unknown) => unknown): unknown {
  if (Array.isArray(result)) return result.map((part) => mapPart(part, change))
  if (!isRecord(result) || !Array.isArray(result.content)) return result
  return { ...result, content: result.content.map((part) => mapPart(part, change)) }
}

function mapPart(part: unknown, change: (text: unknown) => unknown): unknown {
  if (!isRecord(part)) return part
  if ((part.type === 'image' || part.type === 'audio') && 'data' in part)
    return { ...part, data: change(part.data) }
  if (part.type === 'resource' && isRecord(part.resource) && 'blob' in part.resource)
    return { ...part, resource: { ...part.resource, blob: change(part.resource.blob) } }
  return part
}
