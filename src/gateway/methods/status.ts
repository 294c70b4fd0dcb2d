import { z } from 'zod'
import type { HookRow } from '../../store/stores/hook-store.ts'
import { statusLines } from '../status.ts'
import { budgetSchema, readBudget } from './budgets.ts'
import { defineCall } from './method.ts'
import { noParams, readonlyList } from './method-fields.ts'

const line = z.object({
  name: z.string(),
  state: z.enum(['ok', 'warn', 'bad']),
  text: z.string(),
  details: z.record(z.string(), z.unknown()).readonly().exactOptional(),
})

const hook = z.object({
  hookId: z.string(),
  event: z.string(),
  name: z.string().exactOptional(),
  reason: z.string(),
})

const MAX_COUNTED = 200

const status = defineCall({
  name: 'status',
  about: 'Gateway health, and every disabled, tripped or shadow hook.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/status' },
  params: noParams,
  result: z.object({
    ready: z.boolean(),
    version: z.string(),
    edition: z.enum(['lite', 'standard']),
    tenant: z.string(),
    lines: readonlyList(line),
    hooks: z.object({
      total: z.number(),
      off: readonlyList(hook),
      tripped: readonlyList(hook),
      shadow: readonlyList(hook),
    }),
    deadDeliveries: z.object({ count: z.number(), more: z.boolean() }),
    budget: budgetSchema,
  }),
  needs: ['store', 'status', 'settings', 'edition', 'version'],
  async run({ caller, parts }) {
    const { store, edition, version } = parts
    const { tenant } = caller
    const [lines, rows, { tripped }, dead, left] = await Promise.all([
      statusLines(parts.status, tenant),
      store.listHooks(tenant),
      store.loadDefinitions(tenant),
      store.listDeliveries(tenant, { state: 'dead' }, { limit: MAX_COUNTED }),
      readBudget(tenant, parts),
    ])
    const isTripped = (row: HookRow) => row.disabled_reason === 'breaker' || tripped.includes(row.id)
    return {
      ready: lines.every(({ state }) => state !== 'bad'),
      version,
      edition,
      tenant,
      lines,
      hooks: {
        total: rows.length,
        off: rows
          .filter((row) => !row.enabled && !isTripped(row))
          .map((row) => toListed(row, disabledReason(row))),
        tripped: rows
          .filter(isTripped)
          .map((row) => toListed(row, 'hook auto-disabled after repeated failures')),
        shadow: rows
          .filter((row) => row.enabled && row.shadow === true)
          .map((row) => toListed(row, 'shadow')),
      },
      deadDeliveries: { count: dead.rows.length, more: dead.nextCursor !== '' },
      budget: left,
    }
  },
})

function disabledReason({ source, disabled_reason }: HookRow): string {
  return disabled_reason ?? (source === 'builtin' ? 'builtin, switched off' : 'switched off')
}

function toListed({ id, event, name }: HookRow, reason: string) {
  return { hookId: id, event, ...(name === undefined ? {} : { name }), reason }
}

export const statusMethods = [status] as const
