import { isRecord } from '../../engine/core/schema/check.ts'
import type { RpcMessage } from './packet.ts'

/** Headers to set; undefined removes one. */
export type HeaderChanges = Readonly<Record<string, string | undefined>>

interface HeaderSource {
  readonly header: string
  /** The keys that lead to the argument. */
  readonly path: readonly string[]
}

const MAX_TOOLS = 10_000
const MAX_DEPTH = 20
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/
const ENCODED = /^=\?base64\?.*\?=$/

/**
 * The arguments that revision 2026-07-28 repeats in `Mcp-Param-…` headers, as tools declare with `x-mcp-header`. A
 * server refuses a call whose headers differ from its arguments, so a rewrite changes both.
 */
export class ToolHeaders {
  readonly #sources = new Map<string, readonly HeaderSource[]>()

  /** Reads a result of `tools/list`. */
  learn(result: unknown): void {
    const tools: readonly unknown[] = isRecord(result) && Array.isArray(result.tools) ? result.tools : []
    for (const tool of tools) {
      if (!isRecord(tool) || typeof tool.name !== 'string') continue
      const sources = sourcesIn(tool.inputSchema, [])
      if (sources.length > 0 && this.#sources.size < MAX_TOOLS) this.#sources.set(tool.name, sources)
      else this.#sources.delete(tool.name)
    }
  }

  changesFor(tool: string, input: RpcMessage): HeaderChanges {
    const sources = this.#sources.get(tool) ?? []
    return Object.fromEntries(sources.map(({ header, path }) => [header, encode(valueAt(input, path))]))
  }
}

function sourcesIn(schema: unknown, path: readonly string[]): readonly HeaderSource[] {
  if (!isRecord(schema) || path.length > MAX_DEPTH) return []
  const { 'x-mcp-header': name, properties } = schema
  const own = typeof name === 'string' ? [{ header: `mcp-param-${name.toLowerCase()}`, path }] : []
  const inner = Object.entries(isRecord(properties) ? properties : {})
  return [...own, ...inner.flatMap(([key, value]) => sourcesIn(value, [...path, key]))]
}

function valueAt(input: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    input,
  )
}

function encode(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (PLAIN.test(text) && !ENCODED.test(text)) return text
  return `=?base64?${Buffer.from(text).toString('base64')}?=`
}
