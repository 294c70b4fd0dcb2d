import { z } from 'zod'
import { findPack, listPacks, type Pack } from '../../config/packs/pack.ts'
import { zodFields } from '../../config/schema/zod-schema.ts'
import { hookSchema } from '../../engine/hook-definition.ts'
import { addStoredPack, countStored, removeStoredPack } from '../hooks/stored-packs.ts'
import { hookParts } from '../parts.ts'
import { defineCall } from './method.ts'
import { noParams, readonlyList, shortText } from './method-fields.ts'

const name = shortText.describe('The name of the pack: `force-push`.')

const packSummary = z.object({
  name: z.string(),
  about: z.string(),
  recommended: z.boolean(),
  hooks: z.number().describe('How many hooks the pack has.'),
  present: z.number().describe('How many of them the tenant has.'),
  changed: z.number().describe('How many of those differ from the pack.'),
})

const change = z.object({
  added: readonlyList(z.string()),
  replaced: readonlyList(z.string()),
  kept: readonlyList(z.string()).describe('Hooks that differ from the pack and stay as they are.'),
  removed: readonlyList(z.string()),
})

const list = defineCall({
  name: 'packs.list',
  about: 'The starter packs, and how many of their hooks the tenant has.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/packs' },
  params: noParams,
  result: z.object({ packs: readonlyList(packSummary) }),
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
  params: z.strictObject({ name }),
  result: z.object({
    pack: z.object({
      name: z.string(),
      about: z.string(),
      recommended: z.boolean(),
      text: z.string(),
      hooks: readonlyList(z.strictObject(zodFields(hookSchema.fields))),
    }),
  }),
  needs: [],
  async run({ params }) {
    return { pack: toResponse(findPack(params.name)) }
  },
})

function toResponse({ name: of, about, isRecommended, text, hooks }: Pack) {
  return { name: of, about, recommended: isRecommended, text, hooks }
}

const add = defineCall({
  name: 'packs.add',
  about: 'Adds the hooks of a pack to the tenant. What is there already stays, unless `replace` is set.',
  role: 'admin',
  rest: { verb: 'POST', path: '/v1/packs/:name/add' },
  params: z.strictObject({
    name,
    decision: z
      .enum(['ask', 'block'])
      .describe('What its hooks answer; else as the pack says.')
      .exactOptional(),
    shadow: z.boolean().describe('Records what its hooks would answer, and changes nothing.').exactOptional(),
    replace: z.boolean().describe('Also replaces hooks of the pack that were changed.').exactOptional(),
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
  params: z.strictObject({ name }),
  result: change,
  needs: hookParts,
  run: ({ params, caller, parts }) => removeStoredPack(findPack(params.name), { caller, parts }),
})

export const packMethods = [list, show, add, remove] as const
