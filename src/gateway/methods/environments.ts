import { z } from 'zod'
import { checkWithZod } from '../../config/schema/check-with-zod.ts'
import { runsCommands } from '../../engine/core/edition.ts'
import { handlerError } from '../../engine/core/handler-errors.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import { environmentSchema, readEnvironment } from '../../rules/environments.ts'
import { assertPassableVariables } from '../../safe/process/child-environment.ts'
import type { NamedRow } from '../../store/stores/rule-store.ts'
import type { MethodParts } from '../parts.ts'
import { defineCall } from './method.ts'
import { noParams, readonlyList, shortText } from './method-fields.ts'

const record = z.record(z.string(), z.unknown()).readonly()
const name = shortText.describe('The name of the environment, unique in its tenant.')
const definition = record.describe(
  '`type` process (`exec`), command or http (`config` of such a hook); `enabled`, true if omitted.',
)
const environment = z.object({
  name: z.string(),
  definition: record.nullable().describe('Null if it cannot be decrypted.'),
  updated_at: z.number(),
})

const list = defineCall({
  name: 'environments.list',
  about: 'What recovery rules can start runners with; the first that is switched on is used.',
  role: 'admin',
  rest: { verb: 'GET', path: '/v1/environments' },
  params: noParams,
  result: z.object({ environments: readonlyList(environment) }),
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
  params: z.strictObject({ name, definition }),
  result: z.object({ environment }),
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
  params: z.strictObject({ name, definition }),
  result: z.object({ environment }),
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
  params: z.strictObject({ name }),
  result: z.object({ name: z.string() }),
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
  const [problem] = checkWithZod(environmentSchema, given)
  if (problem !== undefined) throw problem.error
  const read = readEnvironment(given)
  if (read === undefined) return
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

function toEnvironment({ name: of, definition: given, updated_at }: NamedRow): z.output<typeof environment> {
  return { name: of, definition: given, updated_at }
}

function notFound(of: string): Error {
  return serverError('gateway.not_found', `environment not found: ${of}`)
}

export const environmentMethods = [list, create, update, remove] as const
