import { useQuery } from '@tanstack/react-query'
import { call } from '../../gateway/call.ts'
import { useRefreshOnEvents } from '../../gateway/changes.ts'

const DAY = 86_400_000

/** What each hook did in the last day. */
export function useHookCounts() {
  useRefreshOnEvents([['hooks', 'counts']])
  return useQuery({
    queryKey: ['hooks', 'counts'],
    queryFn: ({ signal }) => call('stats.hooks', { since: Date.now() - DAY }, signal),
  })
}
