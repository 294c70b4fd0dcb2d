import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call, type Result } from '../../../gateway/call.ts'
import { useSubscription } from '../../../gateway/live.ts'
import { keyOf, useMethod } from '../../../gateway/use-method.ts'
import { hasEnded } from '../run-status.tsx'

export type SessionEvent = Result<'runSessions.events'>['events'][number]

interface LoadedEvents {
  readonly events: readonly SessionEvent[]
  /** How many events the full pages hold, and where the last page begins: new events arise there. */
  readonly complete: number
  readonly cursor: string
}

const PAGE = 200
const nothing: LoadedEvents = { events: [], complete: 0, cursor: '' }

/** A run, read again until it has ended: a runner claims it without an event. */
export function useRun(runId: string) {
  return useMethod(
    'runs.show',
    { run_id: runId },
    { refetchInterval: ({ state: { data } }) => (data !== undefined && hasEnded(data.run) ? false : 1_500) },
  )
}

/** The events of a session, oldest first, growing while the session runs. */
export function useSessionEvents(sessionId: string | undefined, isLive: boolean) {
  const queries = useQueryClient()
  const queryKey = keyOf('runSessions.events', sessionId)
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      loadEvents(sessionId ?? '', queries.getQueryData<LoadedEvents>(queryKey) ?? nothing, signal),
    enabled: sessionId !== undefined,
    refetchInterval: isLive ? 1_500 : false,
  })
  const onItem = () => {
    void queries.invalidateQueries({ queryKey }, { cancelRefetch: false })
    void queries.invalidateQueries({ queryKey: keyOf('runs') }, { cancelRefetch: false })
  }
  useSubscription('runSessions.tail', { include_init: false, session_id: sessionId ?? '-' }, { onItem })
  return query
}

/** Reads on from the last page. */
async function loadEvents(
  session_id: string,
  { events, complete, cursor }: LoadedEvents,
  signal: AbortSignal,
): Promise<LoadedEvents> {
  const loaded = events.slice(0, complete)
  let from = cursor
  for (;;) {
    const page = await call(
      'runSessions.events',
      { session_id, limit: PAGE, cursor: from || undefined },
      signal,
    )
    if (page.nextCursor === '')
      return { events: [...loaded, ...page.events], complete: loaded.length, cursor: from }
    loaded.push(...page.events)
    from = page.nextCursor
  }
}

/** The result of a run, if it has one yet. */
export function resultOf(events: readonly SessionEvent[], runId: string): unknown {
  const event = events.findLast(({ event_type, run_id }) => event_type === 'result' && run_id === runId)
  if (event === undefined) return undefined
  return typeof event.result_text === 'string' ? event.result_text : event.result_data
}
