import { createTokens, type Tokens } from './auth/tokens.ts'
import { type MethodTable, methodTable } from './call-method.ts'
import { type Capacity, createCapacity } from './capacity.ts'
import type { Method } from './methods/method.ts'
import type { GatewayParts } from './parts.ts'

/** What HTTP, WebSocket and unix socket share: who comes in, how much of it, and what can be asked. */
export interface Door {
  readonly parts: GatewayParts
  readonly methods: MethodTable
  readonly tokens: Tokens
  readonly capacity: Capacity
}

export interface DoorOptions {
  readonly parts: GatewayParts
  readonly methods: readonly Method[]
  /** Dispatches at once, through all doors. */
  readonly maxInFlight?: number
}

export function createDoor({ parts, methods, maxInFlight }: DoorOptions): Door {
  const { settings, clock } = parts
  return {
    parts,
    methods: methodTable(methods),
    tokens: createTokens(parts),
    capacity: createCapacity({ settings, clock, ...(maxInFlight === undefined ? {} : { maxInFlight }) }),
  }
}
