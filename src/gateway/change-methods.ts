import { createHash } from 'node:crypto'
import type { Caller } from '../access/caller.ts'
import { decodeCursor, encodeCursor, invalidCursor } from '../database/page-cursor.ts'
import { schema } from '../engine/core/schema/schema.ts'
import { defineSubscription } from '../methods/method.ts'
import { pageFields, requestedPage } from '../methods/method-fields.ts'
import type { MethodParts } from '../methods/method-parts.ts'
import { statusLines } from '../methods/status-part.ts'
import { ruleFilesOf } from '../rules/methods/rule-methods.ts'
import { storedKinds } from '../stored-hooks/change-marks.ts'

const kinds = [...storedKinds, 'health'] as const
type ChangeKind = (typeof kinds)[number]

const change = schema.object({
  kind: schema.choice(kinds, 'What has changed. `health`: the state of a line of `status`.'),
})

const tail = defineSubscription({
  name: 'changes.tail',
  about: 'Which kinds of things have changed, without their content, from a cursor or from now.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/changes/tail' },
  params: schema.object(pageFields),
  result: schema.object({ changes: schema.list(change), nextCursor: schema.text() }),
  event: 'change',
  endedBy: 'changes.untail',
  item: change,
  itemsOf: ({ changes }) => changes,
  watch: ({ nodeChanges }, listener) => nodeChanges.on(listener),
  needs: ['store', 'status', 'nodeChanges', 'rules', 'edition', 'defaultTenant'],
  async run({ params, caller, parts }) {
    const { cursor, limit } = { cursor: undefined, ...requestedPage(params) }
    const seen = cursor === undefined ? undefined : readMarks(cursor)
    const now = await currentMarks(caller, parts)
    if (seen === undefined) return { changes: [], nextCursor: writeMarks(now) }
    const changed = kinds.filter((kind) => seen.get(kind) !== now.get(kind)).slice(0, limit)
    const reached = new Map(
      kinds.map((kind) => [kind, (changed.includes(kind) ? now : seen).get(kind) ?? '']),
    )
    return { changes: changed.map((kind) => ({ kind })), nextCursor: writeMarks(reached) }
  },
})

type Marks = ReadonlyMap<ChangeKind, string>

/** A cursor holds the mark of each kind that the caller has seen, so a caller that resumes misses no change. */
function writeMarks(marks: Marks): string {
  return encodeCursor(kinds.map((kind) => marks.get(kind) ?? ''))
}

function readMarks(cursor: string): Marks {
  const marks = decodeCursor(cursor)
  const texts = marks.filter((mark) => typeof mark === 'string')
  if (texts.length === 0 || texts.length !== marks.length) throw invalidCursor()
  // A cursor of an older version may lack the last kinds; those count as changed.
  return new Map(kinds.map((kind, index) => [kind, texts[index] ?? '']))
}

type MarkParts = Pick<MethodParts, 'store' | 'status' | 'nodeChanges' | 'rules' | 'edition' | 'defaultTenant'>

async function currentMarks(
  caller: Caller,
  { store, status, nodeChanges, ...parts }: MarkParts,
): Promise<Marks> {
  const { tenant, master } = caller
  const [marks, lines] = await Promise.all([store.readChangeMarks(tenant), statusLines(status, tenant)])
  const health = lines.map(({ name, state, text }) => [name, state, state === 'ok' ? '' : text])
  const texts: Readonly<Record<ChangeKind, string>> = {
    ...marks,
    hooks: `${marks.hooks} ${nodeChanges.hookLoads(tenant)}`,
    rules: `${marks.rules} ${ruleFilesOf(caller, parts)
      .map(({ file, fingerprint }) => `${file} ${fingerprint}`)
      .join(' ')}`,
    // Only a master caller may know which tenants exist.
    tenants: master ? marks.tenants : '',
    health: JSON.stringify(health),
  }
  return new Map(kinds.map((kind) => [kind, digest(texts[kind])]))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 11)
}

export const changeMethods = [tail] as const
