import type { Caller } from '../access/caller.ts'
import type { Role } from '../access/tenant-tables.ts'
import type { ObjectNode, Schema } from '../engine/core/schema/schema.ts'
import type { MethodParts } from './method-parts.ts'

/** The name of a part that a method can ask for. */
export type PartName = keyof MethodParts

export interface MethodCall<Params, Part extends PartName = PartName> {
  readonly params: Params
  readonly caller: Caller
  readonly parts: Pick<MethodParts, Part>
  /** Aborted when the caller has disconnected. Only HTTP knows. */
  readonly signal?: AbortSignal
  /** The address that the call came from. */
  readonly address?: string
}

/** A second route of a method, for clients of the original coordinator. */
export interface OriginalRoute<Result> {
  readonly path: string
  /** Parameters that its callers do not send. */
  readonly params?: Readonly<Record<string, unknown>>
  /** What it answers instead of the result; throws what it refuses. */
  answer?(result: Result): unknown
}

/** What every row of the method table declares. The doors, the client and the command line follow from it. */
export interface MethodRow<Name extends string, Params, Result, Part extends PartName> {
  readonly name: Name
  /** One sentence for OpenAPI and `--help`. */
  readonly about: string
  /** The lowest role that may call the method. */
  readonly role: Role
  /** The REST route. `:name` segments and the query or body fill the parameters. */
  readonly rest: {
    readonly verb: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    readonly path: string
    /** The status of a success; 200 if omitted. With 204, only a result without fields has it. */
    readonly status?: 201 | 204
    /** A GET that changes something. Browsers send their cookie with a GET of any page, so a browser session cannot call it. */
    readonly changes?: true
    /** The route of the original coordinator, where it answers otherwise than ours. */
    readonly original?: OriginalRoute<Result>
  }
  readonly params: ObjectNode & Pick<Schema<Params>, 'read' | 'type'>
  readonly result: Schema<Result>
  /** The parts that `run` receives. */
  readonly needs: readonly Part[]
  run(call: MethodCall<Params, Part>): Promise<Result>
}

/** One request, one reply. */
export interface CallMethod<
  Name extends string = string,
  Params = unknown,
  Result = unknown,
  Part extends PartName = PartName,
> extends MethodRow<Name, Params, Result, Part> {
  readonly kind: 'call'
}

/** The parameters that every subscription accepts. */
export interface SubscriptionParams {
  readonly cursor?: string
  readonly limit?: number
}

export interface SubscriptionPage {
  readonly nextCursor: string
}

/**
 * A feed of items in the order in which they arise. `run` reads one page after a cursor; without a cursor it returns no
 * items and the cursor of now. WebSocket, SSE and `--follow` read page after page and never stop.
 */
export interface SubscriptionMethod<
  Name extends string = string,
  Params extends SubscriptionParams = SubscriptionParams,
  Page extends SubscriptionPage = SubscriptionPage,
  Part extends PartName = PartName,
  Item = unknown,
> extends MethodRow<Name, Params, Page, Part> {
  readonly kind: 'subscription'
  /** The event name of one item in WebSocket frames and SSE. */
  readonly event: string
  /** The WebSocket method that ends the subscription. */
  readonly endedBy: string
  readonly item: Schema<Item>
  itemsOf(page: Page): readonly Item[]
  /** The name of one item in SSE, if items have different ones. */
  eventOf?(item: Item): string
  /** The cursor after one item, if each has its own: a client that resumes there gets no item twice. */
  cursorOf?(item: Item): string
  /** What SSE sends first to a client that does not resume. */
  first?(
    call: MethodCall<Params, Part>,
  ): Promise<{ readonly event: string; readonly data: unknown } | undefined>
  /** Calls the listener when this node has new items; returns its undo. */
  watch(parts: Pick<MethodParts, Part>, listener: () => void): () => void
}

export type Method = CallMethod | SubscriptionMethod

/** Declares a method with one reply. */
export function defineCall<const Name extends string, Params, Result, const Part extends PartName>(
  row: MethodRow<Name, Params, Result, Part>,
): CallMethod<Name, Params, Result, Part> {
  return { kind: 'call', ...row }
}

/** Declares a method that callers can follow. */
export function defineSubscription<
  const Name extends string,
  Params extends SubscriptionParams,
  Page extends SubscriptionPage,
  const Part extends PartName,
  Item,
>(
  row: Omit<SubscriptionMethod<Name, Params, Page, Part, Item>, 'kind'>,
): SubscriptionMethod<Name, Params, Page, Part, Item> {
  return { kind: 'subscription', ...row }
}
