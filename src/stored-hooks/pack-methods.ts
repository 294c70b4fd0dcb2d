import { numeric } from '../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../engine/core/schema/schema.ts'
import { hookSchema } from '../engine/hook-definition.ts'
import { findPack, listPacks } from '../hook-files/packs/pack.ts'
import { defineCall } from '../methods/method.ts'
import { noParams, shortText } from '../methods/method-fields.ts'
import { hookParts } from '../methods/method-parts.ts'
import { addStoredPack, countStored, removeStoredPack } from './saving/stored-packs.ts'

const name = shortText('The name of the pack: `force-push`.')

const packSummary = schema.object({
  name: schema.text(),
  about: schema.text(),
  recommended: schema.boolean(),
  hooks: numeric('How many hooks the pack has.'),
  present: numeric('How many of them the tenant has.'),
  changed: numeric('How many of those differ from the pack.'),
})

/** What happened to the hooks of a pack, by their ids in the pack. */
const change = schema.object({
  added: schema.list(schema.text()),
  replaced: schema.list(schema.text()),
  kept: schema.list(schema.text(), 'Hooks that differ from the pack and stay as they are.'),
  removed: schema.list(schema.text()),
})
export type StoredPackChange = SchemaType<typeof change>

const list = defineCall({
  name: 'packs.list',
  about: 'The starter packs, and how many of their hooks the tenant has.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/packs' },
  params: noParams,
  result: schema.object({ packs: schema.list(packSummary) }),
  needs: ['store'],
  async run({ caller, parts }) {
    const rows = await parts.store.listHooks(caller.tenant)
    return {
      packs: listPacks().map((pack) => ({
        ...{ name: pack.name, about: pack.about, recommended: pack.isRecommended, hooks: pack.hooks.length },
        ...countStored(pack, rows, caller.tenant),
      })),
    }
  },
})

const show = defineCall({
  name: 'packs.show',
  about: 'One starter pack: its hooks, and its text as a hook file.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/packs/:name' },
  params: schema.object({ name }),
  result: schema.object({
    pack: schema.object({
      name: schema.text(),
      about: schema.text(),
      recommended: schema.boolean(),
      text: schema.text(),
      hooks: schema.list(schema.object(schema.partial(hookSchema.fields))),
    }),
  }),
  needs: [],
  async run({ params }) {
    const { name: of, about, isRecommended: recommended, text, hooks } = findPack(params.name)
    return { pack: { name: of, about, recommended, text, hooks } }
  },
})

const add = defineCall({
  name: 'packs.add',
  about: 'Adds the hooks of a pack to the tenant. What is there already stays, unless `replace` is set.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/packs/:name/add' },
  params: schema.object({
    name,
    ...schema.partial({
      decision: schema.choice(['ask', 'block'], 'What its hooks answer; else as the pack says.'),
      shadow: schema.boolean('Records what its hooks would answer, and changes nothing.'),
      replace: schema.boolean('Also replaces hooks of the pack that were changed.'),
    }),
  }),
  result: change,
  needs: hookParts,
  run({ params, caller, parts }) {
    const { name: of, replace = false, ...chosen } = params
    return addStoredPack(findPack(of, chosen), replace, { caller, parts })
  },
})

const remove = defineCall({
  name: 'packs.remove',
  about: 'Removes the hooks of a pack from the tenant.',
  role: 'admin',
  rest: { verb: 'DELETE', path: '/v1/packs/:name' },
  params: schema.object({ name }),
  result: change,
  needs: hookParts,
  run: ({ params, caller, parts }) => removeStoredPack(findPack(params.name), { caller, parts }),
})

export const packMethods = [list, show, add, remove] as const
