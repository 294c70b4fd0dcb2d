import { isRecord } from '../engine/core/check.ts'

export type McpResult = Readonly<Record<string, unknown>>

const OPENED = 'hookhelm/opened'
const RELATED_TASK = 'io.modelcontextprotocol/related-task'

export function errorResult(text: string): McpResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** What a hook returned in place of a result, in the shape that clients read. */
export function mcpResultFrom(input: unknown, original: unknown): McpResult {
  const result = shaped(input)
  const meta = isRecord(original) && isRecord(original._meta) ? original._meta[RELATED_TASK] : undefined
  // Clients find the task of a result by this, and no hook has a reason to take it away.
  if (meta === undefined || isRecord(result._meta)) return result
  return { ...result, _meta: { [RELATED_TASK]: meta } }
}

function shaped(input: unknown): McpResult {
  if (typeof input === 'string') return { content: [{ type: 'text', text: input }] }
  if (Array.isArray(input)) return { content: input }
  if (isRecord(input) && (Array.isArray(input.content) || isRecord(input.structuredContent))) return input
  return { content: [{ type: 'text', text: JSON.stringify(input) }] }
}

/** The result with what hooks want the model to know behind it. */
export function resultWithContext(result: McpResult, context: readonly string[]): McpResult {
  if (context.length === 0) return result
  const content = Array.isArray(result.content) ? result.content : []
  return { ...result, content: [...content, { type: 'text', text: context.join('\n') }] }
}

/** Says in the result itself that nobody decided about it. */
export function withOpened(result: McpResult, why: string | undefined): McpResult {
  if (why === undefined) return result
  return { ...result, _meta: { ...(isRecord(result._meta) ? result._meta : {}), [OPENED]: why } }
}

/** The words of a result, for hooks that are told of a failure. */
export function resultText({ content }: McpResult): string {
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((part) => (isRecord(part) && typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
}
