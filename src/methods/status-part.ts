/** The health of one part of the gateway, as `status` shows it. */
export interface StatusLine {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'bad'
  readonly text: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** Reports the health of one part, limited to what the tenant may see. */
export type StatusPart = (tenant: string) => StatusLine | Promise<StatusLine>

export async function statusLines(
  parts: readonly StatusPart[],
  tenant: string,
): Promise<readonly StatusLine[]> {
  return Promise.all(parts.map((part) => part(tenant)))
}
