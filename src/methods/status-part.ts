import { type SchemaType, schema } from '../engine/core/schema/schema.ts'
import { jsonObject } from './method-fields.ts'
/** The health of one part of the gateway, as `status` shows it. */
export const statusLine = schema.object({
  name: schema.text(),
  state: schema.choice(['ok', 'warn', 'bad']),
  text: schema.text(),
  details: schema.optional(jsonObject()),
})
export type StatusLine = SchemaType<typeof statusLine>

/** Reports the health of one part, limited to what the tenant may see. */
export type StatusPart = (tenant: string) => StatusLine | Promise<StatusLine>

/** A line that warns of the first problem and says how many there are; `ok` is the text if there is none. */
export function problemsLine(
  name: string,
  problems: readonly string[],
  ok: string,
  more: Readonly<Record<string, unknown>> = {},
): StatusLine {
  const [first] = problems
  if (first === undefined) return { name, state: 'ok', text: ok }
  const others = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`
  return { name, state: 'warn', text: `${first}${others}`, details: { problems, ...more } }
}

export async function statusLines(
  parts: readonly StatusPart[],
  tenant: string,
): Promise<readonly StatusLine[]> {
  return Promise.all(parts.map((part) => part(tenant)))
}
