import { useQuery } from '@tanstack/react-query'
import type { Methods } from '../../../src/client/index.ts'
import { call } from '../gateway/call.ts'
import { useMay } from './caller.ts'

export type Status = Methods['status']['result']

/** Gateway health and guards that are off. The frame keeps it up to date. */
export function useStatusQuery() {
  return useQuery({ queryKey: ['status'], queryFn: ({ signal }) => call('status', {}, signal) })
}

/** How many guards are off: hooks that a breaker switched off, and deliveries that were given up. */
export function useGuardsOff(): number {
  const { data } = useStatusQuery()
  return data === undefined ? 0 : data.hooks.tripped.length + data.deadDeliveries.count
}

/** What waits for a person. The frame keeps it up to date; only those who may answer see it. */
export function usePendingApprovals() {
  const mayAnswer = useMay('approver')
  return useQuery({
    queryKey: ['approvals', 'pending'],
    queryFn: ({ signal }) => call('approvals.list', { status: 'pending', limit: 100 }, signal),
    enabled: mayAnswer,
  })
}
