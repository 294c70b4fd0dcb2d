import { agentId } from '../../access/agent-id.ts'
import { nullable } from '../../engine/core/schema/more-schemas.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { resolveCatalogueName } from '../../hook-files/read/read-hook-file.ts'
import { defineCall, defineSubscription } from '../../methods/method.ts'
import {
  found,
  isProbe,
  pageFields,
  probeField,
  requestedPage,
  shortText,
  timeFields,
  withoutProbes,
} from '../../methods/method-fields.ts'
import { rowFields } from '../../methods/row-fields.ts'
import type { Store } from '../../store/store.ts'
import { findHookByIdOrName, hookNames } from '../../stored-hooks/saving/find-hook.ts'
import { type ExecutionRow, executions } from '../audit-tables.ts'

const execution = schema.object({
  ...rowFields(executions, [], { hook_id: 'null if the hook was deleted or is in a file.' }),
  hook_name: nullable(schema.text('The name of a stored hook; the id of a hook in a file.')),
  unreadable: schema.boolean(
    'The hook answered with text that is not a decision, and the event passed without one.',
  ),
})

const page = schema.object({ executions: schema.list(execution), nextCursor: schema.text() })

const history = defineCall({
  name: 'hooks.history',
  about: 'Executions of hooks, newest first.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/executions' },
  params: schema.object({
    ...schema.partial({
      hookId: shortText('Id or name of a stored hook.'),
      event: shortText('Any name of the event.'),
      eventId: shortText(),
      decision: execution.fields.decision,
      sessionId: shortText(),
      agentId: shortText('Id or name.'),
      shadow: schema.boolean(),
    }),
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
      ...definedFields({ hook_id: hook?.id ?? hookId, event_id: eventId, session_id: sessionId }),
      ...(event === undefined ? {} : { event: resolveCatalogueName(event) }),
      ...(agent === undefined ? {} : { agent_id: agentId(tenant, agent) }),
    }
    const { rows, nextCursor } = await store.history(tenant, filter, requestedPage(params))
    return { executions: await toExecutions(rows, tenant, store), nextCursor }
  },
})

const get = defineCall({
  name: 'executions.get',
  about: 'One execution with the full text of its error.',
  role: 'operator',
  rest: { verb: 'GET', path: '/v1/events/:eventId/executions/:executionId' },
  params: schema.object({ eventId: shortText(), executionId: shortText() }),
  result: schema.object({
    execution: schema.object({ ...execution.fields, error_detail: nullable(schema.text()) }),
  }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { eventId, executionId } = params
    const { rows } = await parts.store.history(caller.tenant, { event_id: eventId }, { limit: MAX_PER_EVENT })
    const named = await toExecutions(
      rows.filter(({ id }) => id === executionId),
      caller.tenant,
      parts.store,
    )
    const shown = found(named[0], 'execution', executionId)
    const detail = await parts.store.errorDetail(caller.tenant, executionId)
    return { execution: { ...shown, error_detail: detail ?? null } }
  },
})

const MAX_PER_EVENT = 1_000

/** Adds the names that people know the hooks by. */
async function toExecutions(rows: readonly ExecutionRow[], tenant: string, store: Pick<Store, 'findHook'>) {
  const names = await hookNames(
    store,
    tenant,
    rows.map(({ hook_id }) => hook_id),
  )
  return rows.map((row) => {
    const inFile = typeof row.metadata.hook === 'string' ? row.metadata.hook : null
    const hook_name = (row.hook_id === null ? inFile : names.get(row.hook_id)) ?? null
    return { ...row, hook_name, unreadable: row.metadata.unreadable === true }
  })
}

const tail = defineSubscription({
  name: 'executions.tail',
  about: 'Executions as they are recorded, oldest first, from a cursor or from now.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/executions/tail' },
  params: schema.object({ ...probeField, ...pageFields }),
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
    return { executions: await toExecutions(shown, caller.tenant, parts.store), nextCursor }
  },
})

export const executionMethods = [history, get, tail] as const
