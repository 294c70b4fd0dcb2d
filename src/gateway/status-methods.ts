import { numeric } from '../engine/core/schema/more-schemas.ts'
import { schema } from '../engine/core/schema/schema.ts'
import { defineCall } from '../methods/method.ts'
import { noParams } from '../methods/method-fields.ts'
import { statusLine, statusLines } from '../methods/status-part.ts'
import { budgetSchema, readBudget } from '../secrets/budget-methods.ts'
import type { EffectiveHook } from '../stored-hooks/saving/effective-hook-schema.ts'
import { inForceParts, listEverywhere } from '../stored-hooks/saving/list-in-force.ts'

const hook = schema.object({
  hookId: schema.text(),
  event: schema.text(),
  name: schema.optional(schema.text()),
  reason: schema.text(),
})

const MAX_COUNTED = 200

const status = defineCall({
  name: 'status',
  about: 'Gateway health, and every disabled, tripped or shadow hook, wherever it comes from.',
  role: 'viewer',
  rest: { verb: 'GET', path: '/v1/status' },
  params: noParams,
  result: schema.object({
    ready: schema.boolean(),
    version: schema.text(),
    edition: schema.choice(['lite', 'standard']),
    tenant: schema.text(),
    lines: schema.list(statusLine),
    hooks: schema.object({
      total: numeric(),
      off: schema.list(hook),
      tripped: schema.list(hook),
      shadow: schema.list(hook),
    }),
    deadDeliveries: schema.object({ count: numeric(), more: schema.boolean() }),
    budget: budgetSchema,
  }),
  needs: ['store', 'status', 'settings', 'version', ...inForceParts],
  async run({ caller, parts }) {
    const { store, edition, version } = parts
    const { tenant } = caller
    const [lines, { hooks }, dead, left] = await Promise.all([
      statusLines(parts.status, tenant),
      listEverywhere(caller, parts),
      store.listDeliveries(tenant, { state: 'dead' }, { limit: MAX_COUNTED }),
      readBudget(tenant, parts),
    ])
    const isTripped = (hook: EffectiveHook) => !hook.enabled && hook.disabled_reason === 'breaker'
    // An untrusted file is a line of its own.
    const rows = hooks.filter(({ state }) => state !== 'untrusted')
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
        shadow: rows.filter((row) => row.enabled && row.shadow).map((row) => toListed(row, 'shadow')),
      },
      deadDeliveries: { count: dead.rows.length, more: dead.nextCursor !== '' },
      budget: left,
    }
  },
})

function disabledReason({ source, disabled_reason }: EffectiveHook): string {
  return disabled_reason ?? (source.kind === 'builtin' ? 'builtin, switched off' : 'switched off')
}

function toListed({ id, event, name }: EffectiveHook, reason: string) {
  return { hookId: id, event, ...(name === null ? {} : { name }), reason }
}

export const statusMethods = [status] as const
