import { type Query, type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { Subscriptions } from '../../../src/client/index.ts'
import { useSubscription } from './live.ts'

type ChangeKind = Subscriptions['changes.tail']['item']['kind']

/** The first word of the keys of all queries that show things of a kind. */
const shownBy: Readonly<Record<ChangeKind, readonly string[]>> = {
  hooks: ['hooks', 'status'],
  deliveries: ['deliveries', 'firing', 'status', 'approvals'],
  tokens: ['tokens'],
  secrets: ['secrets'],
  providers: ['providers'],
  settings: ['settings', 'rules', 'status'],
  budget: ['budget', 'status'],
  agents: ['agents'],
  tenants: ['tenants', 'caller'],
  approvals: ['approvals', 'status'],
  rules: ['rules'],
  // A firing arms the windows of its rule.
  firings: ['firings', 'firing', 'rules'],
  teams: ['teams'],
  mailbox: ['mailbox', 'firing'],
  environments: ['environments'],
  health: ['status'],
}

/** Reads again what has changed, on this page or anywhere else. Views only name their queries by these words. */
export function useFollowChanges(): void {
  const queries = useQueryClient()
  useSubscription(
    'changes.tail',
    {},
    {
      onItem: ({ kind }) => {
        for (const word of shownBy[kind]) refresh(queries, [word])
      },
      onStart: () => refresh(queries, []),
    },
  )
}

interface RefreshOptions {
  /** Only events of this session count. */
  readonly session?: string
  /** The shortest time between two refreshes. */
  readonly everyMs?: number
}

/** Reads queries again when events arrive: at once, and during a burst once a second or as often as given. */
export function useRefreshOnEvents(
  keys: readonly QueryKey[],
  { session, everyMs = 1_000 }: RefreshOptions = {},
): void {
  const queries = useQueryClient()
  const burst = useRef<{ timer?: ReturnType<typeof setTimeout>; isBehind: boolean }>({ isBehind: false })
  const refreshAll = () => {
    burst.current.isBehind = false
    for (const key of keys) refresh(queries, key)
    burst.current.timer = setTimeout(() => {
      delete burst.current.timer
      if (burst.current.isBehind) refreshAll()
    }, everyMs)
  }
  const refreshSoon = () => {
    if (burst.current.timer === undefined) refreshAll()
    else burst.current.isBehind = true
  }
  useSubscription(
    'events.tail',
    {},
    {
      onItem: ({ session_id }) => {
        if (session === undefined || session === session_id) refreshSoon()
      },
      onStart: refreshSoon,
    },
  )
  useEffect(
    () => () => {
      clearTimeout(burst.current.timer)
      delete burst.current.timer
    },
    [],
  )
}

/** Queries that are read again once the request that is under way has ended. */
const readAgain = new WeakSet<Query>()

/**
 * Reads queries again that are shown. A request that is under way may have been answered before the change, so another
 * follows it. It is not given up: on a slow gateway a burst of changes would keep every request from its end.
 */
function refresh(queries: QueryClient, queryKey: QueryKey): void {
  for (const query of queries.getQueryCache().findAll({ queryKey })) {
    const invalidate = () => queries.invalidateQueries({ queryKey: query.queryKey, exact: true })
    if (query.state.fetchStatus === 'idle') void invalidate()
    else if (!readAgain.has(query)) {
      readAgain.add(query)
      const ended = Promise.resolve(query.promise).catch(() => {})
      void ended.then(() => {
        readAgain.delete(query)
        return invalidate()
      })
    }
  }
}
