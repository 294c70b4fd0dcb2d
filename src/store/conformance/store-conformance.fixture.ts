import { describe } from 'vitest'
import { approvalConformance } from './approvals.fixture.ts'
import { auditConformance } from './audit.fixture.ts'
import { auditChainConformance } from './audit-chain.fixture.ts'
import { blueprintConformance } from './blueprints.fixture.ts'
import { changeConformance } from './changes.fixture.ts'
import { deliveryConformance } from './deliveries.fixture.ts'
import { guardConformance } from './guards.fixture.ts'
import { historyConformance } from './history.fixture.ts'
import { hookConformance } from './hooks.fixture.ts'
import { pruneConformance } from './prune.fixture.ts'
import { resealConformance } from './reseal.fixture.ts'
import { ruleConformance } from './rules.fixture.ts'
import { runClaimConformance } from './run-claims.fixture.ts'
import { runEventConformance } from './run-events.fixture.ts'
import { runConformance } from './runs.fixture.ts'
import type { OpenStoreUnderTest } from './samples.fixture.ts'
import { sessionConformance } from './sessions.fixture.ts'
import { tenancyConformance } from './tenancy.fixture.ts'
import { tenantConformance } from './tenants.fixture.ts'
import { vaultConformance } from './vault.fixture.ts'
import { viewConformance } from './views.fixture.ts'

/** The tests that every dialect of the store must pass. */
export function storeConformance(name: string, open: OpenStoreUnderTest): void {
  describe(name, () => {
    tenantConformance(open)
    hookConformance(open)
    auditConformance(open)
    historyConformance(open)
    viewConformance(open)
    auditChainConformance(open)
    pruneConformance(open)
    deliveryConformance(open)
    guardConformance(open)
    sessionConformance(open)
    vaultConformance(open)
    resealConformance(open)
    changeConformance(open)
    tenancyConformance(open)
    blueprintConformance(open)
    runConformance(open)
    runClaimConformance(open)
    runEventConformance(open)
    approvalConformance(open)
    ruleConformance(open)
  })
}
