import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { nullable, numeric } from '../../engine/core/schema/more-schemas.ts'
import { readChecked } from '../../engine/core/schema/read-checked.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { runsCommands } from '../../engine/core/values/edition.ts'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import { defineCall } from '../../methods/method.ts'
import { jsonObject, noParams, shortText } from '../../methods/method-fields.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { assertPassableVariables } from '../../safe/process/child-environment.ts'
import type { NamedRow } from '../../teams/team-tables.ts'
import { environmentSchema } from '../environments.ts'

const name = shortText('The name of the environment, unique in its tenant.')
const definition = jsonObject(
  '`type` process (`exec`), command or http (`config` of such a hook); `enabled`, true if omitted.',
)
const environment = schema.object({
  name: schema.text(),
  definition: nullable(jsonObject('Null if it cannot be decrypted.')),
  updated_at: numeric(),
})

const list = defineCall({
  name: 'environments.list',
  about: 'What recovery rules can start runners with; the first that is switched on is used.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/environments' },
  params: noParams,
  result: schema.object({ environments: schema.list(environment) }),
  needs: ['store'],
  async run({ caller, parts }) {
    return { environments: (await parts.store.listEnvironments(caller.tenant)).map(toEnvironment) }
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
    return { environment: toEnvironment(row) }
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
    const before = await parts.store.findEnvironment(caller.tenant, params.name)
    if (before === undefined) throw notFound(params.name)
    const merged = Object.entries({ ...before.definition, ...params.definition })
    const changed = Object.fromEntries(merged.filter(([, value]) => value !== null))
    checkEnvironment(changed, parts)
    const saved = { name: params.name, definition: changed }
    const row = await parts.store.saveEnvironment(caller.tenant, saved, false)
    if (row === undefined) throw notFound(params.name)
    return { environment: toEnvironment(row) }
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
    if (!(await parts.store.deleteEnvironment(caller.tenant, params.name))) throw notFound(params.name)
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

function toEnvironment({
  name: of,
  definition: given,
  updated_at,
}: NamedRow): SchemaType<typeof environment> {
  return { name: of, definition: given, updated_at }
}

function notFound(of: string): Error {
  return serverError('gateway.not_found', `environment not found: ${of}`)
}

export const environmentMethods = [list, create, update, remove] as const
