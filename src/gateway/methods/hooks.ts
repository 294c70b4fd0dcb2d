import { z } from 'zod'
import { resolveCatalogueName } from '../../config/read/read-hook-file.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { createHook, deleteHook, reachableHook, toggleHook, updateHook } from '../hooks/change.ts'
import { hookInput } from '../hooks/hook-input.ts'
import { hookShown, shown } from '../hooks/hook-shown.ts'
import { agentId } from '../tenancy/agent-id.ts'
import { listOf, text } from './fields.ts'
import { method } from './method.ts'

const changed = z.object({ hookId: z.string() })

const list = method({
  name: 'hooks.list',
  about: 'The hooks of the tenant and the global ones, in the order of creation.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/hooks' },
  params: z.strictObject({
    event: text.describe('By any of its names.').exactOptional(),
    scope: z.enum(['global', 'tenant', 'agent']).exactOptional(),
    agentId: text.describe('Id or name: only hooks that concern this agent.').exactOptional(),
    enabled: z.boolean().exactOptional(),
  }),
  result: z.object({ hooks: listOf(hookShown) }),
  async run({ params, caller, parts }) {
    const { event, agentId: agent, ...rest } = params
    const rows = await parts.store.listHooks(caller.tenant, {
      ...rest,
      ...(event === undefined ? {} : { event: resolveCatalogueName(event) }),
      ...(agent === undefined ? {} : { agent_id: agentId(caller.tenant, agent) }),
    })
    return { hooks: rows.map(shown) }
  },
})

const get = method({
  name: 'hooks.get',
  about: 'One hook.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/hooks/:hookId' },
  params: z.strictObject({ hookId: text }),
  result: z.object({ hook: hookShown }),
  async run({ params, caller, parts }) {
    const row = await parts.store.findHook(caller.tenant, params.hookId)
    if (row === undefined) throw serverError('gateway.not_found', `hook not found: ${params.hookId}`)
    return { hook: shown(row) }
  },
})

const create = method({
  name: 'hooks.create',
  about: 'Makes a hook.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/hooks' },
  params: hookInput,
  result: changed,
  run: ({ params, caller, parts }) => createHook(params, caller, parts),
})

const update = method({
  name: 'hooks.update',
  about: 'Changes fields of a hook; null takes a field away. The whole definition is checked again.',
  role: 'admin',
  rest: { verb: 'PATCH', path: '/v1/hooks/:hookId' },
  params: z.strictObject({
    hookId: text,
    updates: z.record(z.string(), z.unknown()).describe('Fields of a hook.'),
  }),
  result: changed,
  run: ({ params, caller, parts }) => updateHook(params.hookId, params.updates, caller, parts),
})

const remove = method({
  name: 'hooks.delete',
  about: 'Deletes a hook; its executions stay.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/hooks/:hookId' },
  params: z.strictObject({ hookId: text }),
  result: changed,
  run: ({ params, caller, parts }) => deleteHook(params.hookId, caller, parts),
})

const toggle = method({
  name: 'hooks.toggle',
  about: 'Switches a hook on or off; on also clears its breaker.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/hooks/:hookId/toggle' },
  params: z.strictObject({
    hookId: text,
    enabled: z.boolean().describe('false if omitted.').exactOptional(),
  }),
  result: z.object({ hookId: z.string(), enabled: z.boolean() }),
  async run({ params, caller, parts }) {
    const { hookId, enabled = false } = params
    const row = await reachableHook(hookId, caller, parts)
    return toggleHook(row, enabled, parts)
  },
})

export const hookMethods = [list, get, create, update, remove, toggle] as const
