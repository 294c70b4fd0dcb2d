/** One line of `status`: a part of the gateway and how it is. Hooks are never silently off, so every opening shows here. */
export interface StatusLine {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'bad'
  readonly text: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** A part that can tell how it is. `tenant` sees only what concerns it. */
export type StatusPart = (tenant: string) => StatusLine | Promise<StatusLine>

/** Ready when nothing is bad; a load balancer asks. */
export async function statusLines(
  parts: readonly StatusPart[],
  tenant: string,
): Promise<readonly StatusLine[]> {
  return Promise.all(parts.map((part) => part(tenant)))
}
