import { z } from 'zod'
import type { HookDefinition } from '../../../engine/hook-definition.ts'
import { type ImportFormat, present, translateWith } from '../import-format.ts'

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
const silent = new Set(['version', 'source', 'created_at', 'updated_at', 'created_by', 'metadata'])

/** Rows of GoClaw's `agent_hooks`, or what `hooks.list` answers. */
export function goClaw(value: unknown) {
  return Array.isArray(value) ? translateWith(value, bare) : translateWith(value, wrapped)
}

const bare: ImportFormat<Row[]> = { schema: z.array(row), translate: (rows) => translated(rows, []) }
const wrapped: ImportFormat<{ hooks: Row[] }> = {
  schema: z.looseObject({ hooks: z.array(row) }),
  translate: ({ hooks }) => translated(hooks, ['hooks']),
}

function translated(rows: readonly Row[], base: readonly string[]) {
  return {
    hooks: rows.map((each, index) => ({ from: [...base, index], hook: definition(each) })),
    notes: rows.flatMap((each, index) => notes(each, each.name ?? each.id ?? `row ${index + 1}`)),
  }
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

const known = new Set(Object.keys(row.shape))

function notes(row: Row, who: string): string[] {
  const lost = Object.keys(row).filter((key) => !known.has(key) && !silent.has(key))
  return [
    ...lost.map((key) => `${who}: ${key} has no equivalent in a file`),
    ...(row.config.headers === undefined
      ? []
      : [`${who}: headers that were encrypted there cannot be read here; write them again`]),
  ]
}
