import type { Caller } from '../../access/caller.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { found, shortText, withoutNulls } from '../../methods/method-fields.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { rowFields, toResult } from '../../methods/row-fields.ts'
import { type RunHook, readBlueprint, readRunHook } from '../blueprints/blueprint.ts'
import { assertVariablesAllowed, readableSecretsOf, referencesOf } from '../hooks/run-hooks.ts'
import { type BlueprintRow, runHooks } from '../stored/run-tables.ts'
import { saveBlueprint, secretWarning } from './blueprint-methods.ts'

const name = shortText('The name that blueprints refer to with `$ref`.')
const runHook = schema.object(rowFields(runHooks, ['tenant_id']))
const definition = schema.map(
  schema.any(),
  '`type`, `agent_name` or `url`, `method` and `headers`, `on_error`, `timeout_seconds`, `mode`.',
)

const saved = schema.object({ hook: runHook, warnings: schema.list(schema.text()) })

const list = defineCall({
  name: 'runHooks.list',
  about: 'The named run hooks.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/run-hooks' },
  params: schema.object({}),
  result: schema.object({ hooks: schema.list(runHook) }),
  needs: ['store'],
  async run({ caller, parts }) {
    return { hooks: (await parts.store.listRunHooks(caller.tenant)).map((row) => toResult(runHook, row)) }
  },
})

const show = defineCall({
  name: 'runHooks.show',
  about: 'One named run hook.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/run-hooks/:name' },
  params: schema.object({ name }),
  result: schema.object({ hook: runHook }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const row = await parts.store.findRunHook(caller.tenant, params.name)
    return { hook: toResult(runHook, found(row, 'run hook', params.name)) }
  },
})

const create = defineCall({
  name: 'runHooks.create',
  about: 'Saves a new named run hook.',
  role: 'admin',
  rest: { verb: 'POST', path: '/run-hooks', status: 201 },
  params: schema.object({ name, definition }),
  result: saved,
  needs: ['store', 'settings'],
  async run({ params, caller, parts }) {
    const hook = readAllowedHook(params.definition, caller, parts)
    const row = await parts.store.saveRunHook(caller.tenant, params, true)
    if (row === undefined)
      throw serverError('store.taken', `there is a run hook named ${params.name}`, { at: 'name' })
    return { hook: toResult(runHook, row), warnings: warningsOf(hook) }
  },
})

const update = defineCall({
  name: 'runHooks.update',
  about: 'Replaces a named run hook, in every blueprint that refers to it.',
  role: 'admin',
  rest: { verb: 'PATCH', path: '/run-hooks/:name' },
  params: schema.object({ name, definition }),
  result: saved,
  needs: ['store', 'edition', 'settings', 'changed'],
  async run({ params, caller, parts }) {
    const stored = await parts.store.findRunHook(caller.tenant, params.name)
    const before = found(stored, 'run hook', params.name)
    // Fields of one type mean nothing to the other.
    const isOtherType = (params.definition.type ?? before.definition.type) !== before.definition.type
    const given = isOtherType ? params.definition : { ...before.definition, ...params.definition }
    const definition = withoutNulls(given)
    const hook = readAllowedHook(definition, caller, parts)
    const users = await blueprintsOf(parts, caller, params.name)
    const isGate = users.some(({ hooks }) =>
      hooks.on_run_start?.some((entry) => '$ref' in entry && entry.$ref === params.name),
    )
    if (hook.mode === 'async' && isGate)
      throw serverError(
        'gateway.conflict',
        `${params.name} decides about starts of runs, so it cannot be async`,
      )
    const row = await parts.store.saveRunHook(caller.tenant, { name: params.name, definition }, false)
    const changed = found(row, 'run hook', params.name)
    for (const { row: user } of users)
      await saveBlueprint({ given: user.definition, version: user.version, owner: user.owner }, caller, parts)
    return { hook: toResult(runHook, changed), warnings: warningsOf(hook) }
  },
})

const remove = defineCall({
  name: 'runHooks.delete',
  about: 'Deletes a named run hook that no blueprint refers to.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/run-hooks/:name' },
  params: schema.object({ name }),
  result: schema.object({ name: schema.text() }),
  needs: ['store', 'edition', 'changed'],
  async run({ params, caller, parts }) {
    const users = await blueprintsOf(parts, caller, params.name)
    if (users.length > 0)
      throw serverError(
        'gateway.conflict',
        `${users.map(({ row }) => row.name).join(', ')} refer to ${params.name}`,
        {
          hint: 'Remove the $ref from the blueprints first.',
        },
      )
    found(await parts.store.deleteRunHook(caller.tenant, params.name), 'run hook', params.name)
    return { name: params.name }
  },
})

function readAllowedHook(
  definition: unknown,
  { tenant }: Caller,
  { settings }: Pick<MethodParts, 'settings'>,
): RunHook {
  const hook = readRunHook(definition, 'definition')
  assertVariablesAllowed(hook, settings.of(tenant).header_variables ?? [], 'definition')
  return hook
}

function warningsOf(hook: RunHook): readonly string[] {
  return readableSecretsOf(hook).map((header) => secretWarning('definition', header))
}

/** The blueprints that refer to a named hook. */
async function blueprintsOf(
  { store, edition }: Pick<MethodParts, 'store' | 'edition'>,
  { tenant }: Caller,
  hook: string,
) {
  const rows = await store.listBlueprints(tenant)
  const read = rows.map((row: BlueprintRow) => {
    const { blueprint } = readBlueprint(row.definition, edition)
    return { row, hooks: blueprint.hooks, references: referencesOf(blueprint) }
  })
  return read.filter(({ references }) => references.includes(hook))
}

export const runHookMethods = [list, show, create, update, remove] as const
