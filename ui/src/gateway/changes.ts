import { type Query, type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { Subscriptions } from '../../../src/client/index.ts'
import type { MethodName } from './call.ts'
import { useSubscription } from './live.ts'
import { keyOf } from './use-method.ts'

type ChangeKind = Subscriptions['changes.tail']['item']['kind']

/**
 * The methods that show things of a kind, or the nouns of such methods. A kind is what the gateway reports as changed, or
 * what an action changes: its method or its noun. Every other noun shows its own things.
 */
const shownBy: Readonly<Record<string, readonly string[]>> = {
  hooks: ['hooks', 'packs', 'stats.hooks', 'status'],
  packs: ['hooks', 'packs', 'stats.hooks', 'status'],
  // A test records nothing.
  'hooks.test': [],
  deliveries: ['deliveries', 'rules.firing', 'status', 'approvals.list'],
  settings: ['settings', 'rules', 'status'],
  budget: ['budgets', 'status'],
  agents: ['capabilities', 'reports'],
  tenants: ['tenants', 'caller'],
  // A draft of a hook holds an instant: read again, it would change while a person reviews it.
  approvals: ['approvals.list', 'status'],
  rules: ['rules.list', 'rules.simulate'],
  // A firing arms the windows of its rule.
  firings: ['rules'],
  mailbox: ['mailbox', 'rules.firing'],
  health: ['status'],
}

/** The keys of the queries that show what an action or a change of this kind touches. */
export function queriesTouchedBy(changed: MethodName | ChangeKind): readonly QueryKey[] {
  const [noun = changed] = changed.split('.')
  return (shownBy[changed] ?? shownBy[noun] ?? [noun]).map((word) => keyOf(word))
}

/** Reads again what has changed, on this page or anywhere else. */
export function useFollowChanges(): void {
  const queries = useQueryClient()
  useSubscription(
    'changes.tail',
    {},
    {
      onItem: ({ kind }) => {
        for (const key of queriesTouchedBy(kind)) refresh(queries, key)
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

/** Calls methods again when events arrive: at once, and during a burst once a second or as often as given. */
export function useRefreshOnEvents(
  methods: readonly MethodName[],
  { session, everyMs = 1_000 }: RefreshOptions = {},
): void {
  const queries = useQueryClient()
  const burst = useRef<{ timer?: ReturnType<typeof setTimeout>; isBehind: boolean }>({ isBehind: false })
  const refreshAll = () => {
    burst.current.isBehind = false
    for (const method of methods) refresh(queries, keyOf(method))
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
