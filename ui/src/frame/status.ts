import { useMethod } from '../gateway/use-method.ts'
import { useMay } from './caller.ts'

/** How many guards are off: hooks that a breaker switched off, and deliveries that were given up. */
export function useGuardsOff(): number {
  const { data } = useMethod('status')
  return data === undefined ? 0 : data.hooks.tripped.length + data.deadDeliveries.count
}

/** What waits for a person. The frame keeps it up to date; only those who may answer see it. */
export function usePendingApprovals() {
  const mayAnswer = useMay('approver')
  return useMethod('approvals.list', { status: 'pending', limit: 100 }, { enabled: mayAnswer })
}
