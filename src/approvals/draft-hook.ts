import { isRecord } from '../engine/core/schema/check.ts'
import { isoTime } from '../engine/core/time/clock.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import { isRawNumber } from '../safe/json.ts'
import type { ApprovalRow } from './stored/approval-tables.ts'

type Scalar = string | number | boolean | null

/** A hook as a person may save it, and what it does not say. */
export interface DraftedHook {
  readonly hook: Readonly<Record<string, unknown>>
  readonly notes: readonly string[]
}

const SOURCE = `// Answers the questions of other hooks about the calls that this hook matches.
function handle() {
  return { decision: 'allow', grant: true, reason: 'calls like this were approved' }
}`

/** The longest condition that a hook may have, and how many terms its operators allow. */
const MAX_CONDITION = 2_048
const MAX_TERMS = 60

/** A hook that allows exactly the arguments of one call, until an instant. A person widens it if that is wanted. */
export function draftAllowingHook(approval: ApprovalRow, expiresAt: number): DraftedHook {
  const { event, tool, agent, folder, what, approval_id, approvers_needed } = approval
  const inFolder = folder === null ? NOTHING : comparedInCel(folder, { path: 'cwd', cel: 'cwd' })
  const { fields, terms, left } = withinLimits(joined([inFolder, comparedArguments(approval)]))
  const notes = [
    ...(left.length === 0
      ? []
      : [`Not compared: any value of ${left.join(', ')} is allowed. Add a condition (if_expr).`]),
    ...(agent === null ? ['The call names no agent, so the hook applies to all agents.'] : []),
    ...(folder === null ? ['The call names no folder, so the hook applies in every folder.'] : []),
    ...(approvers_needed > 1
      ? ['The hook that asks needs several approvers: it still asks people, whatever this hook says.']
      : []),
  ]
  return {
    hook: {
      event,
      handler_type: 'script',
      name: `allow ${(what ?? tool ?? event).replaceAll(/\s+/g, ' ').slice(0, 60)}`,
      description: `Drafted from ${approval_id}.`,
      ...(agent === null ? { scope: 'tenant' } : { scope: 'agent', agent_ids: [agent] }),
      ...(tool === null ? {} : { matcher: `^${tool.replaceAll(/[^\w]/g, '\\$&')}$` }),
      ...(Object.keys(fields).length === 0 ? {} : { match: { fields } }),
      ...(terms.length === 0 ? {} : { if_expr: terms.map(({ cel }) => cel).join(' && ') }),
      preapproves: true,
      expires_at: isoTime(expiresAt),
      config: { source: SOURCE },
    },
    notes,
  }
}

/** Where a value is, or what is required of it: as a dot path for people, and as CEL. */
interface ArgumentPlace {
  readonly path: string
  readonly cel: string
}

interface ComparedArguments {
  readonly fields: Readonly<Record<string, Scalar>>
  /** CEL: the number of entries of each object, and what a dot path cannot name or compare. */
  readonly terms: readonly ArgumentPlace[]
  /** The paths of what no condition compares. */
  readonly left: readonly string[]
}

const NOTHING: ComparedArguments = { fields: {}, terms: [], left: [] }

function comparedArguments({ event, input }: ApprovalRow): ComparedArguments {
  const key = Object.hasOwn(catalogue, event)
    ? catalogue[event as keyof typeof catalogue].rewrites
    : undefined
  if (key !== undefined) return compared(input, { path: key, cel: celRoot(key) })
  // The payload of the event has entries of its own besides the arguments, so they are not counted.
  return joined(entriesOf(input, { path: '', cel: 'payload' }))
}

function celRoot(key: string): string {
  return key === 'tool_input' ? key : `payload[${JSON.stringify(key)}]`
}

function compared(value: unknown, place: ArgumentPlace): ComparedArguments {
  // No condition compares the digits of such a number.
  if (isRawNumber(value)) return { ...NOTHING, left: [place.path] }
  if (!isRecord(value)) return comparedValue(value, place)
  const parts = entriesOf(value, place)
  // Without the size, a call with further arguments would match too.
  const size = { path: `further entries of ${place.path}`, cel: `size(${place.cel}) == ${parts.length}` }
  return parts.length === 0 ? comparedInCel(value, place) : joined([{ ...NOTHING, terms: [size] }, ...parts])
}

function entriesOf(value: unknown, { path, cel }: ArgumentPlace): readonly ComparedArguments[] {
  const within = path === '' ? '' : `${path}.`
  return Object.entries(isRecord(value) ? value : {}).map(([key, each]) => {
    const place = { path: `${within}${key}`, cel: `${cel}[${JSON.stringify(key)}]` }
    if (!key.isWellFormed()) return { ...NOTHING, left: [place.path] }
    // A dot in a name would read as a path.
    return key !== '' && !key.includes('.') ? compared(each, place) : comparedInCel(each, place)
  })
}

function comparedValue(value: unknown, place: ArgumentPlace): ComparedArguments {
  return Array.isArray(value)
    ? comparedInCel(value, place)
    : { ...NOTHING, fields: { [place.path]: value as Scalar } }
}

function comparedInCel(value: unknown, { path, cel }: ArgumentPlace): ComparedArguments {
  const text = literal(value)
  return text === undefined
    ? { ...NOTHING, left: [path] }
    : { ...NOTHING, terms: [{ path, cel: `${cel} == ${text}` }] }
}

/** A JSON value as CEL, which has the same literals; undefined for a text that is no Unicode, or a number beyond 2⁵³. */
function literal(value: unknown): string | undefined {
  if (isRawNumber(value)) return undefined
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : JSON.stringify(value)
  if (typeof value === 'string') return value.isWellFormed() ? JSON.stringify(value) : undefined
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Array.isArray(value)
    ? value.map(literal)
    : Object.entries(value).flatMap(([key, each]) => [pairOf(literal(key), literal(each))])
  if (parts.includes(undefined)) return undefined
  return Array.isArray(value) ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`
}

function pairOf(key: string | undefined, value: string | undefined): string | undefined {
  return key === undefined || value === undefined ? undefined : `${key}: ${value}`
}

/** What does not fit into one condition is named instead. */
function withinLimits({ fields, terms, left }: ComparedArguments): ComparedArguments {
  let length = 0
  const fits = ({ cel }: ArgumentPlace, index: number) => {
    length += cel.length + ' && '.length
    return length <= MAX_CONDITION && index < MAX_TERMS
  }
  const { kept = [], cut = [] } = Object.groupBy(terms, (term, index) => (fits(term, index) ? 'kept' : 'cut'))
  return { fields, terms: kept, left: [...left, ...cut.map(({ path }) => path)] }
}

function joined(parts: readonly ComparedArguments[]): ComparedArguments {
  return {
    fields: Object.assign({}, ...parts.map(({ fields }) => fields)),
    terms: parts.flatMap(({ terms }) => terms),
    left: parts.flatMap(({ left }) => left),
  }
}
