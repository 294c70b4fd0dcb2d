import type { Tokens } from '../../access/tokens.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import type { Clock } from '../../engine/core/time/clock.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import type { AgentDoor } from '../agents/agent-door.ts'
import type { Dispatcher } from '../dispatch.ts'
import type { MethodTable } from './call-method.ts'
import type { Capacity } from './capacity.ts'

/** What the HTTP server and the unix socket share. */
export interface Door {
  readonly dispatcher: Dispatcher
  /** Replies to coding agents in their native format. */
  readonly agents: AgentDoor
  readonly methods: MethodTable
  /** Each method receives the parts that its row names. */
  readonly parts: MethodParts
  readonly tokens: Tokens
  readonly capacity: Capacity
  readonly clock: Clock
  readonly log: Log
}
