import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  getScalarValue,
  parseEvents,
  SCALAR_STYLE,
  YAMLException,
} from 'js-yaml'
import { errorText, HookError } from '../../engine/core/errors/error.ts'
import {
  createSource,
  offsetIn,
  offsetInRaw,
  type Source,
  type SourceNode,
  sourceSyntaxError,
  type TextPosition,
} from './source.ts'

const LIMITS = { maxDepth: 64, maxAliases: 100 }

type Scalar = Extract<Event, { type: typeof EVENT_ID.SCALAR }>

/** Parses YAML 1.2. An unknown tag, a second document and a duplicate key are errors. */
export function yamlSource(text: string): Source {
  const { events, value } = parse(text)
  return createSource(value, () => treeOf(text, events))
}

function parse(text: string): { events: Event[]; value: unknown } {
  try {
    const events = parseEvents(text, LIMITS)
    const documents = constructFromEvents(events, { source: text, schema: CORE_SCHEMA, ...LIMITS })
    if (documents[0] === undefined || documents[0] === null) throw sourceSyntaxError('the file is empty', 0)
    if (documents.length > 1)
      throw sourceSyntaxError('the file has more than one document', text.indexOf('\n---') + 1)
    return { events, value: documents[0] }
  } catch (error) {
    if (error instanceof HookError) throw error
    const { reason, mark } =
      error instanceof YAMLException ? error : { reason: errorText(error), mark: undefined }
    throw sourceSyntaxError(reason, mark?.position ?? 0)
  }
}

function treeOf(text: string, events: readonly Event[]): SourceNode {
  const top: SourceNode = { start: 0, children: [] }
  const open: SourceNode[] = []
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) open.push(top)
    else if (event.type === EVENT_ID.POP) open.pop()
    else {
      const node = nodeOf(text, event)
      open.at(-1)?.children?.push(node)
      if (node.children) open.push(node)
    }
  }
  return top.children?.[0] ?? top
}

function nodeOf(
  text: string,
  event: Exclude<Event, { type: typeof EVENT_ID.DOCUMENT | typeof EVENT_ID.POP }>,
): SourceNode {
  if (event.type === EVENT_ID.ALIAS) return { start: event.anchorStart - 1, isAlias: true }
  if (event.type !== EVENT_ID.SCALAR)
    return { start: event.start, children: [], isMapping: event.type === EVENT_ID.MAPPING }
  const start = Math.max(event.valueStart, 0)
  const value = getScalarValue(text, event)
  return { start, text: value, inside: (position) => start + offsetInScalar(text, event, value, position) }
}

function offsetInScalar(text: string, scalar: Scalar, value: string, position: TextPosition): number {
  const raw = text.slice(scalar.valueStart, scalar.valueEnd)
  const exact = offsetInRaw(raw, value.trimEnd(), position)
  if (exact !== undefined) return exact
  if (scalar.style !== SCALAR_STYLE.LITERAL_BLOCK) return 0
  // The lines of a literal block are those of the value, indented.
  const before = value.slice(0, offsetIn(value, position)).split('\n')
  const lines = raw.split('\n')
  const lead = lines.slice(0, before.length - 1).reduce((sum, line) => sum + line.length + 1, 0)
  return lead + scalar.indent + (before.at(-1)?.length ?? 0)
}
