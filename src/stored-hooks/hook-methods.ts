import { isAbsolute } from 'node:path'
import { agentId } from '../access/agent-id.ts'
import { serverError } from '../engine/core/errors/server-errors.ts'
import { hookScopes } from '../engine/core/hook.ts'
import { nullable } from '../engine/core/schema/more-schemas.ts'
import { schema } from '../engine/core/schema/schema.ts'
import { resolveCatalogueName } from '../hook-files/read/read-hook-file.ts'
import { defineCall } from '../methods/method.ts'
import { found, jsonObject, shortText } from '../methods/method-fields.ts'
import { hookParts } from '../methods/method-parts.ts'
import { createHook, deleteHook, reachableHook, toggleHook, updateHook } from './saving/change-hook.ts'
import { effectiveFile, effectiveHook } from './saving/effective-hook-schema.ts'
import { listEffectiveFiles, listEffectiveHooks } from './saving/effective-hooks.ts'
import { findHookByIdOrName } from './saving/find-hook.ts'
import { hookInput } from './saving/hook-input.ts'
import { hookResponse, toHookResponse } from './saving/hook-response.ts'
import { inForceParts, listEverywhere } from './saving/list-in-force.ts'
import { mayNameFolders } from './snapshots/event-folders.ts'

const changed = schema.object({ hookId: schema.text() })
const hookId = shortText('Id or name.')

const list = defineCall({
  name: 'hooks.list',
  about: 'The hooks of the tenant and the global hooks, in the order of creation.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/hooks' },
  params: schema.object(
    schema.partial({
      event: shortText('Any name of the event.'),
      scope: schema.choice(hookScopes),
      agentId: shortText('Id or name: only hooks that apply to this agent.'),
      enabled: schema.boolean(),
    }),
  ),
  result: schema.object({ hooks: schema.list(hookResponse) }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const { event, agentId: agent, ...rest } = params
    const rows = await parts.store.listHooks(caller.tenant, {
      ...rest,
      ...(event === undefined ? {} : { event: resolveCatalogueName(event) }),
      ...(agent === undefined ? {} : { agent_id: agentId(caller.tenant, agent) }),
    })
    return { hooks: rows.map(toHookResponse) }
  },
})

const get = defineCall({
  name: 'hooks.get',
  about: 'One hook.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/hooks/:hookId' },
  params: schema.object({ hookId }),
  result: schema.object({ hook: hookResponse }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const row = await findHookByIdOrName(parts.store, caller.tenant, params.hookId)
    return { hook: toHookResponse(found(row, 'hook', params.hookId)) }
  },
})

const effective = defineCall({
  name: 'hooks.effective',
  about:
    'The hooks in force for an event, agent and folder, in the order of running, with their conditions in words, what ' +
    'keeps each from running, and the state of every hook file.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/effective-hooks' },
  params: schema.object(
    schema.partial({
      event: shortText('Any name of the event; all events if omitted.'),
      agent: shortText('Id or name of the agent.'),
      folder: schema.text('The folder in which the agent works, as an absolute path; lite edition only.', {
        minLength: 1,
        maxLength: 4_096,
      }),
      everywhere: schema.boolean(
        'Also the hooks of every folder that is trusted or where an agent worked since the gateway started.',
      ),
      hookId: shortText('Only this hook, by id or name, with its definition.'),
    }),
  ),
  result: schema.object({
    event: nullable(schema.text()),
    agent: nullable(schema.text()),
    folder: nullable(schema.text('null if hook files of folders do not count for this caller.')),
    problem: schema.text('Why every gate blocks here; empty if the hooks are loaded.'),
    hooks: schema.list(effectiveHook),
    files: schema.list(effectiveFile),
    folders: schema.list(schema.text(), 'With `everywhere`, the folders with hooks of their own.'),
  }),
  needs: inForceParts,
  async run({ params, caller, parts }) {
    const { agent, folder: given, hookId } = params
    if (given !== undefined && !isAbsolute(given))
      throw serverError('gateway.request', 'folder must be an absolute path', { at: 'folder' })
    const folder = mayNameFolders(caller, parts) ? given : undefined
    const event = params.event === undefined ? undefined : resolveCatalogueName(params.event)
    const about = { event: event ?? null, agent: agent ?? null, folder: folder ?? null }
    if (params.everywhere === true && given === undefined)
      return { ...about, ...(await listEverywhere(caller, parts, { event, agent, hookId })) }
    const inForce = await parts.hooksInForce(caller.tenant, folder)
    const request = { tenant: caller.tenant, edition: parts.edition, event, agent, hookId }
    return {
      ...about,
      problem: inForce.problem,
      hooks: listEffectiveHooks(inForce, request),
      files: listEffectiveFiles(inForce),
      folders: [],
    }
  },
})

const create = defineCall({
  name: 'hooks.create',
  about: 'Creates a hook.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/hooks' },
  params: hookInput,
  result: changed,
  needs: hookParts,
  run: ({ params, caller, parts }) => createHook(params, caller, parts),
})

const update = defineCall({
  name: 'hooks.update',
  about: 'Changes fields of a hook; null removes a field. The whole definition is validated again.',
  role: 'admin',
  rest: { verb: 'PATCH', path: '/v1/hooks/:hookId' },
  params: schema.object({
    hookId,
    updates: jsonObject('Hook fields with their new values.'),
  }),
  result: changed,
  needs: hookParts,
  run: ({ params, caller, parts }) => updateHook(params.hookId, params.updates, caller, parts),
})

const remove = defineCall({
  name: 'hooks.delete',
  about: 'Deletes a hook; its executions are kept.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/hooks/:hookId' },
  params: schema.object({ hookId }),
  result: changed,
  needs: hookParts,
  run: ({ params, caller, parts }) => deleteHook(params.hookId, caller, parts),
})

const toggle = defineCall({
  name: 'hooks.toggle',
  about: 'Enables or disables a hook; enabling also resets its circuit breaker.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/hooks/:hookId/toggle' },
  params: schema.object({
    hookId,
    enabled: schema.optional(schema.boolean('false if omitted.')),
  }),
  result: schema.object({ hookId: schema.text(), enabled: schema.boolean() }),
  needs: hookParts,
  async run({ params, caller, parts }) {
    const { hookId, enabled = false } = params
    const row = await reachableHook(hookId, caller, parts)
    return toggleHook(row, enabled, parts)
  },
})

export const hookMethods = [list, get, effective, create, update, remove, toggle] as const
