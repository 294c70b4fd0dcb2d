/** The health of one part of the gateway, as `status` shows it. */
export interface StatusLine {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'bad'
  readonly text: string
  readonly details?: Readonly<Record<string, unknown>>
}

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
