import { isAbsolute } from 'node:path'
import type { Caller } from '../../access/caller.ts'
import type { Trace } from '../../engine/core/records/trace.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import type { AnalyzeShell, ShellEffects } from '../../engine/core/shell-effects.ts'
import type { Catalogue } from '../../engine/events/catalogue.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { defineCall } from '../../methods/method.ts'
import { found, shortText } from '../../methods/method-fields.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { rowFields } from '../../methods/row-fields.ts'
import { parseStoredJson } from '../../safe/json.ts'
import type { HookRow } from '../../stored-hooks/hook-tables.ts'
import { isCatalogueName } from '../../stored-hooks/saving/effective-hooks.ts'
import { explainConditions, type KnownCondition } from '../../stored-hooks/saving/explain-conditions.ts'
import { mayNameFolders } from '../../stored-hooks/snapshots/event-folders.ts'
import { events, type StoredEvent } from '../audit-tables.ts'
import { explainMisses } from '../record/explain-misses.ts'
import { recordedInput } from '../record/recorded-input.ts'

const params = schema.object({ eventId: shortText() })

const event = schema.object(rowFields(events, ['request', 'answer']))

const get = defineCall({
  name: 'events.get',
  about: 'One recorded event: the request and the decision.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/events/:eventId' },
  params,
  result: schema.object({
    event,
    request: schema.optional(
      schema.any('The request as received; absent if its encryption key no longer exists.'),
    ),
    decision: schema.optional(schema.any()),
  }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { row, request, decision } = await findRecorded(params.eventId, caller, parts)
    return { event: row, ...definedFields({ request, decision }) }
  },
})

const explain = defineCall({
  name: 'events.explain',
  about: 'The full trace of a recorded event: why the decision was made.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/events/:eventId/explain' },
  params,
  result: schema.object({
    event,
    ...schema.partial({
      request: schema.any(),
      decision: schema.any(),
      trace: schema.any(
        'For each hook: whether it matched, what it returned, and why; a condition term by term.',
      ),
      effects: schema.any(
        'What the call does: commands, files, hosts, and what cannot be known. Computed from the request.',
      ),
    }),
  }),
  needs: ['store', 'hooksInForce', 'edition', 'defaultTenant', 'shell'],
  async run({ params, caller, parts }) {
    const { row, trace, ...recorded } = await findRecorded(params.eventId, caller, parts)
    const hooks = await parts.store.listHooks(caller.tenant, { event: row.event })
    const complete = explainMisses(trace, hooks, row.created_at)
    const explained = await addConditions({ row, ...recorded, trace: complete }, hooks, { caller, parts })
    const effects = recordedEffects(row, recorded.request, parts.shell)
    return { event: row, ...definedFields({ ...recorded, trace: explained, effects }) }
  },
})

/** What the call does, again from its request; undefined if it does nothing that the analyser knows. */
function recordedEffects(
  row: RecordedTrace['row'],
  request: unknown,
  shell: AnalyzeShell,
): ShellEffects | undefined {
  if (!isCatalogueName(row.event)) return undefined
  const input = recordedInput(row.event, request, row, shell)
  const effects = input?.effects?.(input.payload, input.envelope).all()
  return effects !== undefined && Object.values(effects).some((list) => list.length > 0) ? effects : undefined
}

interface RecordedTrace {
  readonly row: Omit<StoredEvent, 'request' | 'answer'>
  readonly request: unknown
  readonly decision: unknown
  readonly trace: unknown
}

interface ExplainContext {
  readonly caller: Caller
  readonly parts: Pick<MethodParts, 'hooksInForce' | 'edition' | 'defaultTenant' | 'shell'>
}

/** Shows the conditions of the listed hooks term by term, as far as the request can still be read. */
async function addConditions(
  { row, request, decision, trace }: RecordedTrace,
  stored: readonly HookRow[],
  context: ExplainContext,
): Promise<unknown> {
  const { event } = row
  if (!isTrace(trace) || !isCatalogueName(event)) return trace
  const input = recordedInput(event, request, row, context.parts.shell)
  if (input === undefined) return trace
  const known = new Map<string, KnownCondition>(stored.map((hook) => [hook.id, hook]))
  if (trace.hooks.some(({ hook }) => !known.has(hook)))
    for (const hook of await listFileHooks(input.envelope.cwd, event, context))
      if (hook.id !== undefined && !known.has(hook.id)) known.set(hook.id, hook)
  return explainConditions(trace, (id) => known.get(id), {
    input,
    steps: isRecord(decision) && Array.isArray(decision.steps) ? decision.steps : [],
    time: row.created_at,
  })
}

/** The hooks in force where the agent worked: those of files have no row. */
async function listFileHooks(
  folder: string | undefined,
  event: keyof Catalogue,
  { caller, parts }: ExplainContext,
): Promise<readonly HookDefinition[]> {
  const mayRead = folder !== undefined && isAbsolute(folder) && mayNameFolders(caller, parts)
  const { snapshot } = await parts.hooksInForce(caller.tenant, mayRead ? folder : undefined)
  return snapshot?.hooks.list(event) ?? []
}

/** Traces are stored as the engine makes them. */
function isTrace(value: unknown): value is Trace {
  return isRecord(value) && Array.isArray(value.hooks)
}

async function findRecorded(eventId: string, caller: Caller, { store }: Pick<MethodParts, 'store'>) {
  const { request, answer, ...row } = found(await store.findEvent(caller.tenant, eventId), 'event', eventId)
  const recorded = parseStored(answer)
  const { decision, trace } = isRecord(recorded) ? recorded : {}
  return { row, request: parseStored(request), decision, trace }
}

function parseStored(json: string | undefined): unknown {
  return json === undefined ? undefined : parseStoredJson(json)
}

function definedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

export const eventMethods = [get, explain] as const
