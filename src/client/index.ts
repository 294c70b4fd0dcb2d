/** Entry point `hookhelm/client`: a typed client of a gateway. */
export { HookError } from '../engine/core/errors/error.ts'
export { retryAfterOf } from '../engine/core/time/retry-after.ts'
export type { Methods, Subscriptions } from '../gateway/methods.ts'
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type DispatchCallOptions,
  type DispatchResult,
  type EventPayload,
  type EventToSend,
} from './client.ts'
export type { SubscriptionItem } from './subscribe.ts'
