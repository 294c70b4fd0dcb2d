import type { Server } from 'node:http'

export interface Step {
  readonly tool?: string
  readonly input?: unknown
  /** Several calls at once. */
  readonly tools?: readonly { readonly tool: string; readonly input: unknown }[]
  readonly text?: string
}

export interface FakeRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

export function startFake(
  steps: readonly Step[],
  seen: (request: FakeRequest) => void | Promise<void>,
): Promise<{ readonly server: Server; readonly url: string }>
