import type { Caller } from '../../access/caller.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { looseObject, nullable, numeric, withAbout } from '../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../engine/core/schema/schema.ts'
import { defineCall } from '../../methods/method.ts'
import { found, jsonObject, shortText, withoutNulls } from '../../methods/method-fields.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { rowFields, toResult } from '../../methods/row-fields.ts'
import type { Content } from '../../teams/team-tables.ts'
import { readBlueprint } from '../blueprints/blueprint.ts'
import { builtinBlueprint, builtinBlueprintNames, findDefinition } from '../blueprints/builtin-blueprints.ts'
import { runHookPointNames } from '../hooks/run-hook-points.ts'
import {
  assertVariablesAllowed,
  hookAgentsOf,
  keepSwitches,
  loadNamedRunHooks,
  readableSecretsOf,
  toStoredHooks,
  usedRunHooks,
} from '../hooks/run-hooks.ts'
import { type BlueprintRow, blueprints } from '../stored/run-tables.ts'

const name = shortText('The name of the agent.')
const blueprint = schema.object({
  ...rowFields(blueprints, ['tenant_id', 'owner'], {
    definition: 'The blueprint as it was saved.',
    version: '0 if it is built in.',
  }),
  source: schema.choice(
    ['stored', 'file', 'builtin'],
    '`builtin` comes with the product; saving an agent of its name replaces it.',
  ),
})
const saved = schema.object({
  blueprint,
  warnings: schema.list(schema.text(), 'Keys without effect, and hook agents that do not exist.'),
})

/** Fields of a blueprint. Further ones are kept, so that tools can add their own; `hooks` accepts none. */
const text = schema.optional(nullable(schema.text()))
const object = nullable(jsonObject())
const fields = {
  type: withAbout(text, '`autonomous` or `procedural`.'),
  description: text,
  parameters_schema: schema.optional(withAbout(object, 'A JSON Schema 2020-12.')),
  output_schema: schema.optional(withAbout(object, 'A JSON Schema 2020-12.')),
  system_prompt: text,
  model: text,
  ...schema.partial({
    tools: nullable(schema.list(schema.text())),
    executor: withAbout(object, '`command`, `model`, `cli`, or the `profile` of a runner.'),
    demands: withAbout(object, '`hostname`, `project_dir` and `tags` of the runner.'),
    hooks: {
      ...object,
      about: `${runHookPointNames.map((point) => `\`${point}\``).join(', ')}.`,
    },
  }),
}

const list = defineCall({
  name: 'blueprints.list',
  about: 'The agents that can be started.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/agents' },
  params: schema.object({}),
  result: schema.object({ blueprints: schema.list(blueprint) }),
  needs: ['store'],
  async run({ caller, parts }) {
    const rows = await parts.store.listBlueprints(caller.tenant)
    const builtins = builtinBlueprintNames
      .filter((builtin) => !rows.some((row) => row.name === builtin))
      .flatMap((builtin) => showBuiltin(builtin) ?? [])
    return { blueprints: [...rows.map((row) => toResult(blueprint, row)), ...builtins] }
  },
})

const show = defineCall({
  name: 'blueprints.show',
  about: 'One agent that can be started.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/agents/:name' },
  params: schema.object({ name }),
  result: schema.object({ blueprint }),
  needs: ['store'],
  async run({ params, caller, parts }) {
    const row = await parts.store.findBlueprint(caller.tenant, params.name)
    const shown = row === undefined ? showBuiltin(params.name) : toResult(blueprint, row)
    return { blueprint: found(shown, 'agent', params.name) }
  },
})

const saveParts = [
  'store',
  'edition',
  'settings',
  'changed',
] as const satisfies readonly (keyof MethodParts)[]
type SaveParts = Pick<MethodParts, (typeof saveParts)[number]>

const create = defineCall({
  name: 'blueprints.create',
  about: 'Saves a new agent.',
  role: 'admin',
  rest: { verb: 'POST', path: '/agents', status: 201 },
  params: looseObject({ name, ...fields }),
  result: saved,
  needs: saveParts,
  run: ({ params, caller, parts }) => saveBlueprint({ given: params, version: 0 }, caller, parts),
})

const update = defineCall({
  name: 'blueprints.update',
  about: 'Changes fields of an agent. `null` removes a field; `hooks: {}` removes the hooks.',
  role: 'admin',
  rest: { verb: 'PATCH', path: '/agents/:name' },
  params: looseObject({
    name,
    version: schema.optional(numeric('The version that the change is based on. A stale one is refused.')),
    ...fields,
  }),
  result: saved,
  needs: saveParts,
  async run({ params: { version, ...params }, caller, parts }) {
    const row = await requireRow(parts.store, caller.tenant, params.name)
    assertNotInFile(row)
    if (version !== undefined && version !== row.version)
      throw serverError('gateway.conflict', `agent ${row.name} has version ${row.version}, not ${version}`, {
        at: 'version',
        hint: 'Read it again and repeat the change.',
      })
    // As in the original: `hooks: null` changes nothing.
    const { hooks, ...others } = params
    const given = withoutNulls({ ...row.definition, ...(hooks === null ? others : params) })
    return saveBlueprint({ given, version: row.version }, caller, parts)
  },
})

const remove = defineCall({
  name: 'blueprints.delete',
  about: 'Deletes an agent and its hooks. Its runs stay.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/agents/:name' },
  params: schema.object({
    name,
    orphaned: schema.optional(
      schema.boolean('Also an agent of a file, if the gateway that has the file is gone for good.'),
    ),
  }),
  result: schema.object({ name: schema.text() }),
  needs: ['store', 'changed'],
  async run({ params, caller, parts }) {
    const row = await requireRow(parts.store, caller.tenant, params.name)
    if (params.orphaned !== true) assertNotInFile(row)
    found(await parts.store.deleteBlueprint(caller.tenant, params.name), 'agent', params.name)
    await parts.changed(caller.tenant)
    return { name: params.name }
  },
})

/**
 * Checks a blueprint and stores it with its hooks. `version` is the one to replace, 0 for a new one; `owner` the gateway whose
 * file it is.
 */
export async function saveBlueprint(
  saved: { readonly given: Content; readonly version: number; readonly owner?: BlueprintRow['owner'] },
  caller: Caller,
  parts: SaveParts,
) {
  const { given, version, owner = null } = saved
  const { store, edition } = parts
  const { tenant } = caller
  const { blueprint: read, warnings } = readBlueprint(given, edition)
  const named = await loadNamedRunHooks(store, tenant)
  const wanted = toStoredHooks(read, named, { tenant, savedBy: caller.name })
  const used = usedRunHooks(read, named)
  const { header_variables: allowed = [] } = parts.settings.of(tenant)
  for (const { hook, at } of used) assertVariablesAllowed(hook, allowed, at)
  const hooks = await keepSwitches(store, tenant, wanted)
  const source = owner === null ? 'stored' : 'file'
  const change = { name: read.name, source, owner, definition: given, hooks } as const
  const row = await store.saveBlueprint(tenant, change, version)
  if (row === undefined && version === 0)
    throw serverError('store.taken', `there is an agent named ${read.name}`, { at: 'name' })
  if (row === undefined)
    throw serverError('gateway.conflict', `agent ${read.name} is being changed by others`, {
      hint: 'Read it again and repeat the change.',
    })
  await parts.changed(tenant)
  const unknown = await Promise.all(
    hookAgentsOf(read, named).map(async (name) =>
      (await findDefinition(store, { tenant, name })) === undefined ? [name] : [],
    ),
  )
  return {
    blueprint: toResult(blueprint, row),
    warnings: [
      ...warnings,
      ...unknown.flat().map((agent) => `a hook starts the agent ${agent}, which does not exist yet`),
      ...used.flatMap(({ hook, at }) => readableSecretsOf(hook).map((header) => secretWarning(at, header))),
    ],
  }
}

/** Everyone who may read the blueprint reads its headers. */
export function secretWarning(at: string, header: string): string {
  return `${at}.headers.${header} can be read by every viewer: use secret:NAME or \${NAME}`
}

function showBuiltin(builtin: string): SchemaType<typeof blueprint> | undefined {
  const of = builtinBlueprint(builtin)
  if (of === undefined) return undefined
  return { name: builtin, source: 'builtin', definition: of, version: 0, created_at: 0, updated_at: 0 }
}

async function requireRow(
  store: Pick<MethodParts['store'], 'findBlueprint'>,
  tenant: string,
  agent: string,
): Promise<BlueprintRow> {
  const row = await store.findBlueprint(tenant, agent)
  if (row === undefined && builtinBlueprintNames.includes(agent))
    throw serverError('gateway.conflict', `the agent ${agent} comes with the product and stays as it is`, {
      hint: 'Save an agent of this name to replace it; deleting that one brings the built-in one back.',
    })
  return found(row, 'agent', agent)
}

/** The file would bring back what a caller changes. */
function assertNotInFile({ name, source }: BlueprintRow): void {
  if (source === 'file')
    throw serverError(
      'gateway.conflict',
      `the agent ${name} comes from a file, which only its file can change`,
      {
        hint: `Change agents/${name}/agent.json; \`hookhelm status\` names its folder if the file has a problem.`,
      },
    )
}

export const blueprintMethods = [list, show, create, update, remove] as const
