import { hookScopes } from '../../../engine/core/hook.ts'
import { looseObject, nonEmpty, nullable, wholeNumber } from '../../../engine/core/schema/more-schemas.ts'
import { type SchemaType, schema } from '../../../engine/core/schema/schema.ts'
import type { HookDefinition } from '../../../engine/hook-definition.ts'
import { type ImportedHook, type ImportFormat, present, translateWith } from '../import-format.ts'
import { FieldReader, type ImportLedger } from '../import-ledger.ts'

const text = schema.text()
const optionalText = schema.optional(nullable(text))

const row = looseObject({
  id: optionalText,
  event: nonEmpty(),
  handler_type: schema.choice(['command', 'http', 'prompt', 'script']),
  scope: schema.optional(schema.choice(hookScopes)),
  name: optionalText,
  matcher: optionalText,
  if_expr: optionalText,
  ...schema.partial({
    timeout_ms: schema.integer(0, Number.MAX_SAFE_INTEGER),
    on_timeout: schema.choice(['block', 'allow', '']),
    priority: wholeNumber(),
    enabled: schema.boolean(),
  }),
  config: schema.map(schema.any()),
  agent_ids: schema.optional(nullable(schema.list(text))),
  agent_id: optionalText,
})
type Row = SchemaType<typeof row>

/** Columns that say nothing about what the hook does. */
const bookkeeping = ['version', 'source', 'created_at', 'updated_at', 'created_by', 'metadata']

/** Rows of GoClaw's `agent_hooks`, or what `hooks.list` answers. */
export function goClaw(value: unknown) {
  return Array.isArray(value) ? translateWith(value, bare) : translateWith(value, wrapped)
}

const bare: ImportFormat<readonly Row[]> = {
  schema: schema.list(row),
  translate: (rows, ledger) => translateRows(rows, [], ledger),
}
const wrapped: ImportFormat<{ hooks: readonly Row[] }> = {
  schema: looseObject({ hooks: schema.list(row) }),
  translate: ({ hooks }, ledger) => translateRows(hooks, ['hooks'], ledger),
}

function translateRows(
  rows: readonly Row[],
  base: readonly string[],
  ledger: ImportLedger,
): readonly ImportedHook[] {
  return rows.map((each, index) => {
    const from = [...base, index]
    for (const key of [...Object.keys(row.fields), ...bookkeeping]) ledger.use([...from, key])
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
    ...textIsLog(row.handler_type),
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

/** There, text that is not JSON let the call run. */
export function textIsLog(handlerType: string): Pick<HookDefinition, 'answer'> {
  return handlerType === 'command' || handlerType === 'http' ? { answer: 'strict' } : {}
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
