/**
 * The demo has tenants of its own, with fixed ids: its hooks never decide calls of real agents, its events stay out of real
 * statistics, and deleting the tenants removes all of it. A tenant that a person names `demo` is not one of them.
 */
export const demoTenants = {
  main: { id: '0193a5b0-7000-7000-8000-0000000000d1', name: 'demo' },
  /** Only on the standard edition, to show that tenants see nothing of each other. */
  partner: { id: '0193a5b0-7000-7000-8000-0000000000d2', name: 'demo-partner' },
} as const

const ids: ReadonlySet<string> = new Set(Object.values(demoTenants).map(({ id }) => id))

export function isDemoTenant(id: string): boolean {
  return ids.has(id)
}
