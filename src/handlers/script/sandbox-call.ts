/** What crosses between the gateway and the sandbox: text only. */
export interface SandboxCall {
  readonly source: string
  /** The event as JSON. */
  readonly event: string
  readonly timeoutMs: number
}

export type SandboxAnswer = { readonly printed: string } & (
  | { readonly kind: 'answer'; readonly json: string }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'broken'; readonly text: string }
)
