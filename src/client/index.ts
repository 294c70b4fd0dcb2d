/** The door for programs that talk to a gateway. */
export { HookError } from '../engine/core/error.ts'
export { retryAfterOf } from '../engine/core/retry-after.ts'
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type EventToSend,
  type Sent,
} from './client.ts'
export type { SubscriptionItem } from './subscribe.ts'
