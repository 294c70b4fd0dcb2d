import type { Envelope } from '../../engine/core/context.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { PayloadShape, ShapedContext, ShapedEvent } from '../../engine/core/schema/payload-shape.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import type { AgentAdapter, NativeEvent } from '../agent-adapter.ts'
import { buildFields } from './field-map.ts'
import type { PayloadRecord } from './read-fields.ts'
import { lookUp, type ToolNames, toNative } from './tool-names.ts'

/** A tool call with the agent's own names. */
export interface NativeToolCall {
  readonly name: string
  readonly input: PayloadRecord
}

/** One event of ours, for translation into an agent's own payload. */
export interface ShapeSource {
  /** Our name of the event. */
  readonly event: string
  readonly payload: PayloadRecord
  readonly envelope: Envelope
  /** In milliseconds since 1970. */
  readonly time: number
  /** What this agent sent, if the event came from it; empty for events of other agents. */
  readonly raw: PayloadRecord
  /** The folder where the session began. */
  readonly project: string
  readonly cwd: string
  /** The tool call; the name is empty on events without one. */
  readonly tool: NativeToolCall
}

/** Builds the fields of one native event. */
export type ShapeView = (source: ShapeSource) => PayloadRecord

/** How the calls of an agent are spelled. */
type ShapeTools = Pick<ShapeSpec, 'preferred' | 'convert' | 'revert'> & { readonly tools: ToolNames }

interface ShapeSpec extends Omit<PayloadShape, 'shape'> {
  readonly adapter: Pick<AgentAdapter, 'name' | 'events' | 'tools'>
  /** The names of tools, where the agent has a second form. */
  readonly tools?: ToolNames
  /** Canonical name → the native tool that the agent uses today, where the table lists several. */
  readonly preferred?: Readonly<Record<string, string>>
  /** Calls whose arguments need more than other names. Undefined for all others. */
  readonly convert?: (canonical: string, input: PayloadRecord) => NativeToolCall | undefined
  /** Converts changed arguments of such a call back. Undefined for all others. */
  readonly revert?: (changed: PayloadRecord, payload: PayloadRecord) => PayloadRecord | undefined
  /** Our event → the native event, where the agent has several for it. The first in its table otherwise. */
  readonly usual?: Readonly<Record<string, string>>
  /** The fields of native events that need code. */
  readonly views?: Readonly<Record<string, ShapeView>>
  /** The native event as the hook sees it. `fields`: the plain ones of the event, and those of its view. */
  build(source: ShapeSource, nativeEvent: string, fields: PayloadRecord): PayloadRecord
  /** None by default. */
  variables?(source: ShapeSource): Readonly<Record<string, string>>
}

/** The form in which an agent gives events to its hooks, from a table of its events and tools. */
export function definePayloadShape(spec: ShapeSpec): PayloadShape {
  const { adapter, tools: names, preferred, convert, revert, usual = {}, views = {}, ...rest } = spec
  const { build, variables, ...rules } = rest
  const tools = { tools: names ?? adapter.tools, ...definedFields({ preferred, convert, revert }) }
  return {
    ...rules,
    shape(payload, context, given): ShapedEvent {
      const source = createSource(adapter.name, tools, payload, context)
      const { event } = context
      const nativeEvent = given ?? lookUp(usual, event) ?? findNativeEvent(adapter.events, event) ?? event
      const fields = nativeFields(source, lookUp(adapter.events, nativeEvent), lookUp(views, nativeEvent))
      return {
        payload: definedFields(build(source, nativeEvent, fields)),
        env: variables?.(source) ?? {},
        readInput: (changed) => readChangedInput(tools, source, changed),
      }
    },
  }
}

function findNativeEvent(events: Readonly<Record<string, NativeEvent>>, event: string): string | undefined {
  return Object.entries(events).find(([, row]) => row.event === event || row.also === event)?.[0]
}

function createSource(
  agent: string,
  tools: ShapeTools,
  given: unknown,
  { event, time, envelope }: ShapedContext,
): ShapeSource {
  const payload = isRecord(given) ? given : {}
  const raw = envelope.host === agent && isRecord(envelope.raw) ? envelope.raw : {}
  const cwd = envelope.cwd ?? process.cwd()
  const project = envelope.project ?? cwd
  return { event, payload, envelope, time, raw, project, cwd, tool: nativeToolCall(tools, payload, raw) }
}

function nativeToolCall(shape: ShapeTools, payload: PayloadRecord, raw: PayloadRecord): NativeToolCall {
  const { tool_name: canonical, native_tool_name: native, tool_input } = payload
  const name = typeof canonical === 'string' ? canonical : ''
  const input = isRecord(tool_input) ? tool_input : {}
  const converted = shape.convert?.(name, input)
  if (converted !== undefined) return converted
  const own = findNativeTool(shape, name, native)
  const original = [raw.tool_input, raw.toolArgs, raw.toolInput].find(isRecord)
  return {
    name: own,
    input:
      original === undefined
        ? withEverySpelling(shape.tools, own, input)
        : toNative(shape.tools, own, input, original),
  }
}

/** Changes of files as one patch, which is the text of one argument. */
export function patchIn(key: string): NonNullable<ShapeSpec['convert']> {
  return (canonical, { command }) =>
    ['Edit', 'Write'].includes(canonical) && typeof command === 'string'
      ? { name: 'apply_patch', input: { [key]: command } }
      : undefined
}

/** The agent's name of a tool: the one that the agent sent, or the one in its table. */
function findNativeTool({ tools, preferred = {} }: ShapeTools, canonical: string, sent: unknown): string {
  const names = [sent].flat().filter((name) => typeof name === 'string')
  const own = names.find((name) => Object.hasOwn(tools, name))
  if (own !== undefined) return own
  const chosen = lookUp(preferred, canonical)
  if (chosen !== undefined || lookUp(tools, canonical)?.name === canonical) return chosen ?? canonical
  return Object.entries(tools).find(([, { name }]) => name === canonical)?.[0] ?? canonical
}

/** Versions of an agent spell an argument differently. A guard finds its value under each of the spellings. */
function withEverySpelling(tools: ToolNames, native: string, input: PayloadRecord): PayloadRecord {
  const keys = Object.entries(lookUp(tools, native)?.keys ?? {})
  const renamed = new Set(keys.map(([, ours]) => ours))
  const kept = Object.entries(input).filter(([key]) => !renamed.has(key))
  const spelled = keys.flatMap(([theirs, ours]) =>
    Object.hasOwn(input, ours) ? [[theirs, input[ours]] as const] : [],
  )
  return Object.fromEntries([...kept, ...spelled])
}

/** Changed arguments with our names. If a hook changed one of several spellings, the changed one counts. */
function readChangedInput(shape: ShapeTools, { tool, payload }: ShapeSource, changed: unknown): unknown {
  if (!isRecord(changed)) return changed
  const reverted = shape.revert?.(changed, payload)
  if (reverted !== undefined) return reverted
  const keys = lookUp(shape.tools, tool.name)?.keys ?? {}
  const read: Record<string, unknown> = {}
  const isNew = (key: string) => JSON.stringify(changed[key]) !== JSON.stringify(tool.input[key])
  for (const [key, value] of Object.entries(changed)) {
    const ours = lookUp(keys, key) ?? key
    if (!Object.hasOwn(read, ours) || isNew(key)) read[ours] = value
  }
  return read
}

/** The whole payload of an event that has neither plain fields nor a view. */
function nativeFields(
  source: ShapeSource,
  row: NativeEvent | undefined,
  view: ShapeView | undefined,
): PayloadRecord {
  if (row?.fields === undefined && view === undefined) return source.payload
  return { ...buildFields(row?.fields ?? {}, source.payload), ...view?.(source) }
}

/** Copies the named fields that the record has. */
export function pickFields(fields: PayloadRecord, ...keys: readonly string[]): PayloadRecord {
  return Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(fields, key) ? [[key, fields[key]]] : [])))
}
