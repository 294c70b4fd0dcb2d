import { type Role, roles } from '../../../src/access/tenant-tables.ts'
import type { Result } from '../gateway/call.ts'
import { useMethod } from '../gateway/use-method.ts'

export type Caller = Result<'caller.get'>

/** Who uses the app. `SignedIn` waits for the answer, so every view has it. */
export function useCaller(): Caller {
  const { data } = useCallerQuery()
  if (data === undefined) throw new Error('a view was shown before the caller was known')
  return data
}

export function useCallerQuery() {
  return useMethod('caller.get', {}, { staleTime: 60_000 })
}

/** Whether the caller's role reaches the wanted one. The gateway checks again; this only hides what would be refused. */
export function useMay(role: Role): boolean {
  return roles.indexOf(useCaller().role) >= roles.indexOf(role)
}
