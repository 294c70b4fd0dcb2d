import type { Secrets } from '../../safe/secret.ts'
import type { ByHand } from '../sql/database.ts'
import { appendGroup } from './append-group.ts'
import { deliveries } from './deliveries.ts'
import { takeGuards } from './guards.ts'
import type { Pool } from './pool.ts'
import { tail } from './tail.ts'
import { findToken } from './tokens.ts'
import { writeGroup } from './write-group.ts'

export function byHand(pools: { app: Pool; system: Pool }, secrets: Secrets): ByHand {
  return {
    tail: tail(pools.app),
    takeGuards: takeGuards(pools.app),
    findToken: findToken(pools.system),
    appendGroup: (group) => appendGroup(pools.system, group),
    writeGroup: (group) => writeGroup(pools.system, group),
    ...deliveries(pools.system, secrets),
  }
}
