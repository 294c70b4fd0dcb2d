import { z } from 'zod'
import { resolveCatalogueName } from '../../config/read/read-hook-file.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Store } from '../../store/store.ts'
import type { ExecutionRow } from '../../store/stores/audit-store.ts'
import { findHookByIdOrName, hookNames } from '../hooks/find-hook.ts'
import { agentId } from '../tenancy/agent-id.ts'
import { defineCall, defineSubscription } from './method.ts'
import {
  isProbe,
  pageFields,
  probeField,
  readonlyList,
  requestedPage,
  shortText,
  timeFields,
  withoutProbes,
} from './method-fields.ts'

const decision = z.enum(['allow', 'ask', 'block', 'error', 'timeout', 'skipped', 'late', 'aborted'])

const execution = z.object({
  id: z.string(),
  tenant_id: z.string(),
  hook_id: z.string().nullable().describe('null if the hook was deleted or is in a file.'),
  hook_name: z.string().nullable().describe('The name of a stored hook; the id of a hook in a file.'),
  event_id: z.string(),
  event: z.string(),
  handler_type: z.string(),
  session_id: z.string().nullable(),
  agent_id: z.string().nullable(),
  input_hash: z.string(),
  decision,
  duration_ms: z.number(),
  retry: z.number(),
  dedup_key: z.string(),
  code: z.string().nullable(),
  error: z.string().nullable(),
  shadow: z.boolean(),
  metadata: z.record(z.string(), z.unknown()).readonly(),
  created_at: z.number(),
})

const page = z.object({ executions: readonlyList(execution), nextCursor: z.string() })

const history = defineCall({
  name: 'hooks.history',
  about: 'Executions of hooks, newest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/executions' },
  params: z.strictObject({
    hookId: shortText.describe('Id or name of a stored hook.').exactOptional(),
    event: shortText.describe('Any name of the event.').exactOptional(),
    eventId: shortText.exactOptional(),
    decision: decision.exactOptional(),
    sessionId: shortText.exactOptional(),
    agentId: shortText.describe('Id or name.').exactOptional(),
    shadow: z.boolean().exactOptional(),
    ...timeFields,
    ...probeField,
    ...pageFields,
  }),
  result: page,
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { hookId, event, eventId, sessionId, agentId: agent, probes, cursor, limit, ...rest } = params
    const { store } = parts
    const { tenant } = caller
    const hook = hookId === undefined ? undefined : await findHookByIdOrName(store, tenant, hookId)
    // A caller that names an event or a session wants it, even if the doctor made it.
    const isNamed = eventId !== undefined || sessionId !== undefined
    const filter = {
      ...rest,
      ...(isNamed ? {} : withoutProbes(probes)),
      ...(hookId === undefined ? {} : { hook_id: hook?.id ?? hookId }),
      ...(event === undefined ? {} : { event: resolveCatalogueName(event) }),
      ...(eventId === undefined ? {} : { event_id: eventId }),
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
      ...(agent === undefined ? {} : { agent_id: agentId(tenant, agent) }),
    }
    const { rows, nextCursor } = await store.history(tenant, filter, requestedPage(params))
    return { executions: await withHookNames(rows, tenant, store), nextCursor }
  },
})

const get = defineCall({
  name: 'executions.get',
  about: 'One execution with the full text of its error.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/events/:eventId/executions/:executionId' },
  params: z.strictObject({ eventId: shortText, executionId: shortText }),
  result: z.object({ execution: execution.extend({ error_detail: z.string().nullable() }) }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { eventId, executionId } = params
    const found = await parts.store.history(caller.tenant, { event_id: eventId }, { limit: MAX_PER_EVENT })
    const row = found.rows.find(({ id }) => id === executionId)
    if (row === undefined) throw serverError('gateway.not_found', `execution not found: ${executionId}`)
    const detail = await parts.store.errorDetail(caller.tenant, executionId)
    const [named = { ...row, hook_name: null }] = await withHookNames([row], caller.tenant, parts.store)
    return { execution: { ...named, error_detail: detail ?? null } }
  },
})

const MAX_PER_EVENT = 1_000

/** Adds the names that people know the hooks by. */
async function withHookNames(rows: readonly ExecutionRow[], tenant: string, store: Pick<Store, 'findHook'>) {
  const names = await hookNames(
    store,
    tenant,
    rows.map(({ hook_id }) => hook_id),
  )
  return rows.map((row) => {
    const inFile = typeof row.metadata.hook === 'string' ? row.metadata.hook : null
    return { ...row, hook_name: (row.hook_id === null ? inFile : names.get(row.hook_id)) ?? null }
  })
}

const tail = defineSubscription({
  name: 'executions.tail',
  about: 'Executions as they are recorded, oldest first, from a cursor or from now.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/executions/tail' },
  params: z.strictObject({ ...probeField, ...pageFields }),
  result: page,
  event: 'execution',
  endedBy: 'executions.untail',
  item: execution,
  itemsOf: ({ executions }) => executions,
  watch: ({ onRecorded }, listener) => onRecorded(listener),
  needs: ['store', 'onRecorded'],
  async run({ params, caller, parts }) {
    const { cursor, limit } = { cursor: undefined, ...requestedPage(params) }
    const { rows, nextCursor } = await parts.store.tail(caller.tenant, cursor, limit)
    const shown = params.probes === true ? rows : rows.filter(({ session_id }) => !isProbe(session_id))
    return { executions: await withHookNames(shown, caller.tenant, parts.store), nextCursor }
  },
})

export const executionMethods = [history, get, tail] as const
