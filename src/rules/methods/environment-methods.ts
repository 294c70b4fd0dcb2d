import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { readChecked } from '../../engine/core/schema/read-checked.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import { runsCommands } from '../../engine/core/values/edition.ts'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import { defineCall } from '../../methods/method.ts'
import { found, jsonObject, noParams, shortText, withoutNulls } from '../../methods/method-fields.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { rowFields, toResult } from '../../methods/row-fields.ts'
import { assertPassableVariables } from '../../safe/process/child-environment.ts'
import { environmentSchema } from '../environments.ts'
import { environments } from '../stored/rule-tables.ts'

const name = shortText('The name of the environment, unique in its tenant.')
const definition = jsonObject(
  '`type` process (`exec`), command or http (`config` of such a hook); `enabled`, true if omitted.',
)
const environment = schema.object(
  rowFields(environments, ['tenant_id', 'created_at'], { definition: 'Null if it cannot be decrypted.' }),
)

const list = defineCall({
  name: 'environments.list',
  about: 'What recovery rules can start runners with; the first that is switched on is used.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/environments' },
  params: noParams,
  result: schema.object({ environments: schema.list(environment) }),
  needs: ['store'],
  async run({ caller, parts }) {
    const rows = await parts.store.listEnvironments(caller.tenant)
    return { environments: rows.map((row) => toResult(environment, row)) }
  },
})

const create = defineCall({
  name: 'environments.create',
  about: 'Saves a new environment.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/environments', status: 201 },
  params: schema.object({ name, definition }),
  result: schema.object({ environment }),
  needs: ['store', 'edition', 'handlers'],
  async run({ params, caller, parts }) {
    checkEnvironment(params.definition, parts)
    const row = await parts.store.saveEnvironment(caller.tenant, params, true)
    if (row === undefined)
      throw serverError('gateway.conflict', `there is an environment ${params.name} already`)
    return { environment: toResult(environment, row) }
  },
})

const update = defineCall({
  name: 'environments.update',
  about: 'Changes fields of an environment; null removes one.',
  role: 'admin',
  rest: { verb: 'PATCH', path: '/v1/environments/:name' },
  params: schema.object({ name, definition }),
  result: schema.object({ environment }),
  needs: ['store', 'edition', 'handlers'],
  async run({ params, caller, parts }) {
    const { tenant } = caller
    const before = found(await parts.store.findEnvironment(tenant, params.name), 'environment', params.name)
    const definition = withoutNulls({ ...before.definition, ...params.definition })
    checkEnvironment(definition, parts)
    const row = await parts.store.saveEnvironment(tenant, { name: params.name, definition }, false)
    return { environment: toResult(environment, found(row, 'environment', params.name)) }
  },
})

const remove = defineCall({
  name: 'environments.delete',
  about: 'Deletes an environment. What it started goes on.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/environments/:name' },
  params: schema.object({ name }),
  result: schema.object({ name: schema.text() }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    found(await parts.store.deleteEnvironment(caller.tenant, params.name), 'environment', params.name)
    return { name: params.name }
  },
})

function checkEnvironment(
  given: unknown,
  { edition, handlers }: Pick<MethodParts, 'edition' | 'handlers'>,
): void {
  const read = readChecked(environmentSchema, given)
  if (read.type !== 'http' && !runsCommands(edition))
    throw handlerError('handler.not_in_edition', 'the standard edition starts no commands', {
      at: 'definition.type',
      hint: 'Use `type: http` with an endpoint that scales a pool of runners.',
    })
  if (read.type === 'process')
    return assertPassableVariables(read.allowed_env_vars ?? [], 'definition.allowed_env_vars')
  const handler_type = read.type
  createHooks({ handlers }).add({ event: 'agent_event', handler_type, config: read.config, answer: 'ignore' })
}

export const environmentMethods = [list, create, update, remove] as const
