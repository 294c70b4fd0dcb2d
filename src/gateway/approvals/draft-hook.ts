import { isRecord } from '../../engine/core/check.ts'
import { isoTime } from '../../engine/core/clock.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import type { ApprovalRow } from '../../store/stores/approval-store.ts'

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

/** A hook that allows exactly the arguments of one call, until an instant. A person widens it if that is wanted. */
export function draftAllowingHook(approval: ApprovalRow, expiresAt: number): DraftedHook {
  const { event, tool, agent, input, what, approval_id, approvers_needed } = approval
  const key = Object.hasOwn(catalogue, event)
    ? catalogue[event as keyof typeof catalogue].rewrites
    : undefined
  const { fields, sizes, left } = comparedFields(input, key === undefined ? [] : [key])
  const notes = [
    ...(left.length === 0
      ? []
      : [`Lists are not compared: any value of ${left.join(', ')} is allowed. Add a condition (if_expr).`]),
    ...(agent === null ? ['The call names no agent, so the hook applies to all agents.'] : []),
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
      // Without it a call with further arguments would match too.
      ...(sizes.length === 0 ? {} : { if_expr: sizes.join(' && ') }),
      preapproves: true,
      expires_at: isoTime(expiresAt),
      config: { source: SOURCE },
    },
    notes,
  }
}

interface ComparedFields {
  readonly fields: Readonly<Record<string, Scalar>>
  /** CEL terms: each object has so many entries. */
  readonly sizes: readonly string[]
  /** The paths of lists, which a field condition cannot compare. */
  readonly left: readonly string[]
}

/** The scalars in the arguments by dot path. */
function comparedFields(value: unknown, path: readonly string[]): ComparedFields {
  const at = path.join('.')
  const none = { fields: {}, sizes: [], left: [] }
  if (Array.isArray(value)) return { ...none, left: [at] }
  if (!isRecord(value)) return at === '' ? none : { ...none, fields: { [at]: value as Scalar } }
  const parts = Object.entries(value).map(([key, each]) =>
    // A dot in a name would read as a path.
    key.includes('.') ? { ...none, left: [`${at}.${key}`] } : comparedFields(each, [...path, key]),
  )
  const [root, ...keys] = path
  const size = `size(${root}${keys.map((key) => `[${JSON.stringify(key)}]`).join('')}) == ${parts.length}`
  return {
    fields: Object.assign({}, ...parts.map(({ fields }) => fields)),
    sizes: [...(root === undefined ? [] : [size]), ...parts.flatMap(({ sizes }) => sizes)],
    left: parts.flatMap(({ left }) => left),
  }
}
