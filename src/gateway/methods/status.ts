import { z } from 'zod'
import type { HookRow } from '../../store/stores/hook-store.ts'
import { statusLines } from '../status.ts'
import { budget, readBudget } from './budgets.ts'
import { listOf, noParams } from './fields.ts'
import { method } from './method.ts'

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

const MOST_COUNTED = 200

const status = method({
  name: 'status',
  about: 'How the gateway is, and every hook that does not do its full work.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/status' },
  params: noParams,
  result: z.object({
    ready: z.boolean(),
    version: z.string(),
    edition: z.enum(['lite', 'standard']),
    tenant: z.string(),
    lines: listOf(line),
    hooks: z.object({
      total: z.number(),
      off: listOf(hook),
      tripped: listOf(hook),
      shadow: listOf(hook),
    }),
    deadDeliveries: z.object({ count: z.number(), more: z.boolean() }),
    budget,
  }),
  async run({ caller, parts }) {
    const { store, edition, version } = parts
    const { tenant } = caller
    const [lines, rows, { tripped }, dead, left] = await Promise.all([
      statusLines(parts.status, tenant),
      store.listHooks(tenant),
      store.loadDefinitions(tenant),
      store.listDeliveries(tenant, { state: 'dead' }, { limit: MOST_COUNTED }),
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
        off: rows.filter((row) => !row.enabled && !isTripped(row)).map((row) => told(row, whyOff(row))),
        tripped: rows.filter(isTripped).map((row) => told(row, 'hook auto-disabled after repeated failures')),
        shadow: rows.filter((row) => row.enabled && row.shadow === true).map((row) => told(row, 'shadow')),
      },
      deadDeliveries: { count: dead.rows.length, more: dead.nextCursor !== '' },
      budget: left,
    }
  },
})

function whyOff({ source, disabled_reason }: HookRow): string {
  return disabled_reason ?? (source === 'builtin' ? 'builtin, switched off' : 'switched off')
}

function told({ id, event, name }: HookRow, reason: string) {
  return { hookId: id, event, ...(name === undefined ? {} : { name }), reason }
}

export const statusMethods = [status] as const
