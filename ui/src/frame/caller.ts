import { useQuery } from '@tanstack/react-query'
import type { Methods } from '../../../src/client/index.ts'
import { call } from '../gateway/call.ts'

export type Caller = Methods['caller.get']['result']

/** Who uses the app. `SignedIn` waits for the answer, so every view has it. */
export function useCaller(): Caller {
  const { data } = useCallerQuery()
  if (data === undefined) throw new Error('a view was shown before the caller was known')
  return data
}

export function useCallerQuery() {
  return useQuery({
    queryKey: ['caller'],
    queryFn: ({ signal }) => call('caller.get', {}, signal),
    staleTime: 60_000,
  })
}

const ranks = ['viewer', 'approver', 'operator', 'admin', 'owner'] as const

/** Whether the caller's role reaches the wanted one. The gateway checks again; this only hides what would be refused. */
export function useMay(role: (typeof ranks)[number]): boolean {
  const rank = (ranks as readonly string[]).indexOf(useCaller().role)
  return rank >= ranks.indexOf(role)
}
