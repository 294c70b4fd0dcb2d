import { z } from 'zod'
import type { HookDefinition } from '../../../engine/hook-definition.ts'
import { type ImportedHook, type ImportFormat, present, translateWith } from '../import-format.ts'
import { FieldReader, type ImportLedger } from '../import-ledger.ts'

const text = z.string()
const optionalText = text.nullable().exactOptional()

const row = z.looseObject({
  id: optionalText,
  event: text.min(1, 'must not be empty'),
  handler_type: z.enum(['command', 'http', 'prompt', 'script']),
  scope: z.enum(['global', 'tenant', 'agent']).exactOptional(),
  name: optionalText,
  matcher: optionalText,
  if_expr: optionalText,
  timeout_ms: z
    .int('must be a whole number from 0 to 600000')
    .min(0, 'must be a whole number from 0 to 600000')
    .exactOptional(),
  on_timeout: z.enum(['block', 'allow', '']).exactOptional(),
  priority: z.int('must be a whole number').exactOptional(),
  enabled: z.boolean().exactOptional(),
  config: z.record(z.string(), z.unknown()),
  agent_ids: z.array(text).nullable().exactOptional(),
  agent_id: optionalText,
})
type Row = z.output<typeof row>

/** Columns that say nothing about what the hook does. */
const bookkeeping = ['version', 'source', 'created_at', 'updated_at', 'created_by', 'metadata']

/** Rows of GoClaw's `agent_hooks`, or what `hooks.list` answers. */
export function goClaw(value: unknown) {
  return Array.isArray(value) ? translateWith(value, bare) : translateWith(value, wrapped)
}

const bare: ImportFormat<Row[]> = {
  schema: z.array(row),
  translate: (rows, ledger) => translateRows(rows, [], ledger),
}
const wrapped: ImportFormat<{ hooks: Row[] }> = {
  schema: z.looseObject({ hooks: z.array(row) }),
  translate: ({ hooks }, ledger) => translateRows(hooks, ['hooks'], ledger),
}

function translateRows(
  rows: readonly Row[],
  base: readonly string[],
  ledger: ImportLedger,
): readonly ImportedHook[] {
  return rows.map((each, index) => {
    const from = [...base, index]
    for (const key of [...Object.keys(row.shape), ...bookkeeping]) ledger.use([...from, key])
    noteLosses(new FieldReader(each, from, ledger))
    return { from, hook: definition(each) }
  })
}

function definition(row: Row): HookDefinition {
  const agents = [...(row.agent_ids ?? []), ...(row.agent_id ? [row.agent_id] : [])]
  return {
    event: row.event,
    handler_type: row.handler_type,
    config: row.config,
    ...present({
      id: row.id || undefined,
      name: row.name || undefined,
      scope: row.scope,
      matcher: row.matcher || undefined,
      if_expr: row.if_expr || undefined,
      // Zero stood for the default there.
      timeout_ms: row.timeout_ms || undefined,
      on_timeout: row.on_timeout || undefined,
      priority: row.priority,
      // A row written without it was stored as off there, against its own description.
      enabled: row.enabled,
      // Elsewhere than in the scope of agents the list had no effect.
      agent_ids: row.scope === 'agent' ? [...new Set(agents)] : undefined,
    }),
  }
}

function noteLosses({ fields, path, ledger }: FieldReader<Row>): void {
  if (fields.config.headers !== undefined)
    ledger.note(
      [...path, 'config', 'headers'],
      'headers that were encrypted there cannot be read here; write them again',
    )
  if (fields.scope !== 'agent' && ((fields.agent_ids ?? []).length > 0 || fields.agent_id))
    ledger.note(
      [...path, fields.agent_id ? 'agent_id' : 'agent_ids'],
      'agents had no effect outside of the scope agent, so the hook still applies to all of them',
    )
}
