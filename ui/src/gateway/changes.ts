import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { Subscriptions } from '../../../src/client/index.ts'
import { useSubscription } from './live.ts'

type ChangeKind = Subscriptions['changes.tail']['item']['kind']

/** The first word of the keys of all queries that show things of a kind. */
const shownBy: Readonly<Record<ChangeKind, readonly string[]>> = {
  hooks: ['hooks', 'status'],
  deliveries: ['deliveries', 'status'],
  tokens: ['tokens'],
  secrets: ['secrets'],
  providers: ['providers'],
  settings: ['settings', 'status'],
  budget: ['budget', 'status'],
  agents: ['agents'],
  tenants: ['tenants', 'caller'],
  health: ['status'],
}

/** Reads again what has changed, on this page or anywhere else. Views only name their queries by these words. */
export function useFollowChanges(): void {
  const queries = useQueryClient()
  useSubscription('changes.tail', {}, ({ kind }) => {
    for (const word of shownBy[kind]) refresh(queries, [word])
  })
}

/** A view that counts events reads them again at most this often. */
const REFRESH_MS = 1_000

/** Reads queries again when events arrive: at once, and during a burst once a second. */
export function useRefreshOnEvents(keys: readonly QueryKey[], session?: string): void {
  const queries = useQueryClient()
  const burst = useRef<{ timer?: ReturnType<typeof setTimeout>; isBehind: boolean }>({ isBehind: false })
  const refreshAll = () => {
    burst.current.isBehind = false
    for (const key of keys) refresh(queries, key)
    burst.current.timer = setTimeout(() => {
      delete burst.current.timer
      if (burst.current.isBehind) refreshAll()
    }, REFRESH_MS)
  }
  useSubscription('events.tail', {}, ({ session_id }) => {
    if (session !== undefined && session !== session_id) return
    if (burst.current.timer === undefined) refreshAll()
    else burst.current.isBehind = true
  })
  useEffect(
    () => () => {
      clearTimeout(burst.current.timer)
      delete burst.current.timer
    },
    [],
  )
}

/** A request that is under way may have read before the change, so it starts over. */
function refresh(queries: QueryClient, queryKey: QueryKey): void {
  void queries.invalidateQueries({ queryKey })
}
