import { useQuery } from '@tanstack/react-query'
import { call } from '../../gateway/call.ts'
import { keyOf, useMethod } from '../../gateway/use-method.ts'

const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** Finding the last event of each agent examines many events. */
export const AGENTS_MS = 5_000

/** Decisions by hour of the last day. */
export function useHoursQuery() {
  return useQuery({
    queryKey: keyOf('stats.decisions', 'last day'),
    queryFn: ({ signal }) => {
      const until = Date.now()
      return call('stats.decisions', { since: until - DAY, until, step: HOUR }, signal)
    },
  })
}

/** The agents that send events, latest first. */
export function useConnectedAgentsQuery() {
  return useMethod(
    'capabilities.list',
    {},
    {
      select: ({ capabilities }) =>
        capabilities
          .flatMap(({ last_at, ...agent }) => (last_at === null ? [] : [{ ...agent, last_at }]))
          .sort((left, right) => right.last_at - left.last_at),
    },
  )
}
