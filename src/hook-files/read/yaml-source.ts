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
import type { SchemaPath } from '../../engine/core/schema/schema.ts'
import {
  assertWithinLimits,
  offsetIn,
  offsetInRaw,
  type Source,
  sourceSyntaxError,
  type TextPosition,
} from './source.ts'

const LIMITS = { maxDepth: 64, maxAliases: 100 }

type Scalar = Extract<Event, { type: typeof EVENT_ID.SCALAR }>
interface Node {
  readonly start: number
  readonly scalar?: Scalar
  /** The value of an alias is elsewhere in the text; its positions are not searched. */
  readonly alias?: true
  /** Keys and values in turn for a mapping, items for a list. */
  readonly children?: Node[]
  readonly mapping?: boolean
}

/** Parses YAML 1.2. An unknown tag, a second document and a duplicate key are errors. */
export function yamlSource(text: string): Source {
  const { events, value } = parse(text)
  let tree: Node | undefined
  // Only a file with a problem needs positions.
  const root = () => {
    tree ??= treeOf(events)
    return tree
  }
  const offset: Source['offset'] = (path, part) => find(text, root(), path, part).node.start
  const source: Source = {
    value,
    offset,
    has: (path) => find(text, root(), path, 'value').found,
    inside: (path, position) => insideScalar(text, find(text, root(), path, 'value').node, position),
  }
  assertWithinLimits(value, (path) => offset(path, 'key'))
  return source
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

function treeOf(events: readonly Event[]): Node {
  const top: Node = { start: 0, children: [] }
  const open: Node[] = []
  for (const event of events) {
    if (event.type === EVENT_ID.DOCUMENT) open.push(top)
    else if (event.type === EVENT_ID.POP) open.pop()
    else {
      const node = nodeOf(event)
      open.at(-1)?.children?.push(node)
      if (node.children) open.push(node)
    }
  }
  return top.children?.[0] ?? top
}

function nodeOf(event: Exclude<Event, { type: typeof EVENT_ID.DOCUMENT | typeof EVENT_ID.POP }>): Node {
  switch (event.type) {
    case EVENT_ID.ALIAS:
      return { start: event.anchorStart - 1, alias: true }
    case EVENT_ID.SCALAR:
      return { start: Math.max(event.valueStart, 0), scalar: event }
    default:
      return { start: event.start, children: [], mapping: event.type === EVENT_ID.MAPPING }
  }
}

function find(
  text: string,
  root: Node,
  path: SchemaPath,
  part: 'key' | 'value',
): { node: Node; found: boolean } {
  let node = root
  for (const [index, step] of path.entries()) {
    const at = childIndex(text, node, step)
    const key = node.children?.[at]
    const value = node.mapping ? node.children?.[at + 1] : key
    if (!key || !value) return { node, found: false }
    node = part === 'key' && index === path.length - 1 ? key : value
    if (node.alias) return { node, found: true }
  }
  return { node, found: true }
}

function childIndex(text: string, { children = [], mapping }: Node, step: string | number): number {
  if (!mapping) return typeof step === 'number' ? step : -1
  return children.findIndex(
    ({ scalar }, at) => at % 2 === 0 && scalar !== undefined && getScalarValue(text, scalar) === String(step),
  )
}

function insideScalar(text: string, { start, scalar }: Node, position: TextPosition): number {
  if (!scalar) return start
  const raw = text.slice(scalar.valueStart, scalar.valueEnd)
  const value = getScalarValue(text, scalar)
  const exact = offsetInRaw(raw, value.trimEnd(), position)
  if (exact !== undefined) return start + exact
  if (scalar.style !== SCALAR_STYLE.LITERAL_BLOCK) return start
  // The lines of a literal block are those of the value, indented.
  const before = value.slice(0, offsetIn(value, position)).split('\n')
  const lines = raw.split('\n')
  const lead = lines.slice(0, before.length - 1).reduce((sum, line) => sum + line.length + 1, 0)
  return start + lead + scalar.indent + (before.at(-1)?.length ?? 0)
}
