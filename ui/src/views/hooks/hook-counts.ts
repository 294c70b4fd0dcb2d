import { useQuery } from '@tanstack/react-query'
import { call } from '../../gateway/call.ts'

const DAY = 86_400_000

/** What each hook did in the last day. */
export function useHookCounts() {
  return useQuery({
    queryKey: ['hooks', 'counts'],
    queryFn: ({ signal }) => call('stats.hooks', { since: Date.now() - DAY }, signal),
    refetchInterval: 15_000,
  })
}
