import type { z } from 'zod'
import type { Role } from '../../store/stores/tenant-store.ts'
import type { Caller } from '../auth/caller.ts'
import type { GatewayParts } from '../parts.ts'

/** One thing the gateway can do: over WebSocket by its name, over REST by its route, on the command line, in the client. */
export interface Method<Name extends string = string, Params = unknown, Result = unknown> {
  readonly name: Name
  /** One sentence for OpenAPI and help. */
  readonly about: string
  /** The least role that may call it. */
  readonly role: Role
  readonly params: z.ZodType<Params>
  readonly result: z.ZodType<Result>
  /** `:name` parts and the query or body fill the parameters. */
  readonly rest: { readonly verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; readonly path: string }
  run(call: MethodCall<Params>): Promise<Result>
}

export interface MethodCall<Params> {
  readonly params: Params
  readonly caller: Caller
  readonly parts: GatewayParts
}

/** Keeps the types of one row together. */
export function method<const Name extends string, Params, Result>(
  row: Method<Name, Params, Result>,
): Method<Name, Params, Result> {
  return row
}
