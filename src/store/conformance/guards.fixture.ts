import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { GuardRequest } from '../../engine/core/guard-state.ts'
import { memoryGuardState } from '../../engine/guard/memory-state.ts'
import { coded, NOON, newTenant, type OpenStoreUnderTest } from './samples.fixture.ts'
import { shareStore } from './shared-store.fixture.ts'

const MONTH = Date.UTC(2026, 2, 1)
const NEXT_MONTH = Date.UTC(2026, 3, 1)

const key = fc.constantFrom('a', 'b')
const small = fc.integer({ min: 1, max: 3 })
const windowMs = fc.integer({ min: 0, max: 30 })
const request: fc.Arbitrary<GuardRequest> = fc.oneof(
  fc.record({ kind: fc.constantFrom('cooldown', 'dedup'), key, windowMs }),
  fc.record({ kind: fc.constant('quota' as const), key, limit: small, windowMs }),
  fc.record({
    kind: fc.constant('budget' as const),
    key,
    cost: small,
    limit: fc.integer({ min: 0, max: 6 }),
  }),
  fc.record({ kind: fc.constant('streak' as const), key, limit: small }),
  fc.record({ kind: fc.constant('end_streak' as const), key }),
)
const step = fc.record({
  requests: fc.array(request, { minLength: 1, maxLength: 3 }),
  pause: fc.constantFrom(0, 1, 5, 20, 86_400_000),
})

export function guardConformance(open: OpenStoreUnderTest): void {
  describe('guards', () => {
    const at = shareStore(open)

    test('4.8 #113 any sequence of questions is answered as the memory of one process answers it', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const tenant = await newTenant(at.store)
          const memory = memoryGuardState()
          let now = NOON
          for (const { requests, pause } of steps) {
            now += pause
            expect(await at.store.takeGuards(tenant, requests, now)).toEqual(memory.take(requests, now))
          }
        }),
        { numRuns: 60 },
      )
    })

    test('of many who ask at once, no more pass than may', async () => {
      const tenant = await newTenant(at.store)
      const second = await at.database.reopen()
      const quota = { kind: 'quota', key: 'q', limit: 5, windowMs: 1_000 } as const
      const cooldown = { kind: 'cooldown', key: 'c', windowMs: 1_000 } as const
      const ask = (requests: readonly GuardRequest[]) =>
        Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            (n % 2 === 0 ? at.store : second).takeGuards(tenant, requests, NOON),
          ),
        )
      expect((await ask([quota])).filter(([pass]) => pass?.pass)).toHaveLength(5)
      expect((await ask([cooldown])).filter(([pass]) => pass?.pass)).toHaveLength(1)
    })

    test('nothing is armed when one of them says no', async () => {
      const tenant = await newTenant(at.store)
      const spent = { kind: 'budget', key: 'b', cost: 2, limit: 1 } as const
      const cooldown = { kind: 'cooldown', key: 'c', windowMs: 1_000 } as const
      expect(await at.store.takeGuards(tenant, [cooldown, spent], NOON)).toMatchObject([
        { pass: true },
        { pass: false, code: 'guard.budget' },
      ])
      expect(await at.store.takeGuards(tenant, [cooldown], NOON)).toEqual([{ pass: true }])
    })
  })

  describe('budgets', () => {
    const at = shareStore(open)

    test('GC-75 a tenant without a budget gets the total on first use', async () => {
      const tenant = await newTenant(at.store)
      const row = {
        tenant_id: tenant,
        month_start: MONTH,
        budget_total: 1_000_000,
        remaining: 1_000_000,
        last_warned_at: null,
      }
      expect(await at.store.readBudget(tenant, NOON, 1_000_000)).toEqual(row)
      expect(await at.store.readBudget(tenant, NOON, 5)).toEqual(row)
    })

    test('GC-75 a new month starts with the total again, and warns again', async () => {
      const tenant = await newTenant(at.store)
      expect(await at.store.spendBudget(tenant, 90, NOON, 100)).toEqual({ remaining: 10, warn: true })
      expect(await at.store.readBudget(tenant, NEXT_MONTH - 1, 100)).toMatchObject({ remaining: 10 })
      expect(await at.store.readBudget(tenant, NEXT_MONTH, 100)).toEqual({
        tenant_id: tenant,
        month_start: NEXT_MONTH,
        budget_total: 100,
        remaining: 100,
        last_warned_at: null,
      })
      expect(await at.store.spendBudget(tenant, 81, NEXT_MONTH, 100)).toEqual({ remaining: 19, warn: true })
    })

    test('GC-76 what was used is taken, even below nought, and never lost to somebody else', async () => {
      const tenant = await newTenant(at.store)
      await Promise.all(Array.from({ length: 20 }, () => at.store.spendBudget(tenant, 10, NOON, 100)))
      expect(await at.store.readBudget(tenant, NOON, 100)).toMatchObject({ remaining: -100 })
    })

    test('GC-78 the warning comes once a month, when less than a fifth is left', async () => {
      const tenant = await newTenant(at.store)
      expect(await at.store.spendBudget(tenant, 80, NOON, 100)).toEqual({ remaining: 20, warn: false })
      expect(await at.store.spendBudget(tenant, 1, NOON + 1, 100)).toEqual({ remaining: 19, warn: true })
      expect(await at.store.spendBudget(tenant, 1, NOON + 2, 100)).toEqual({ remaining: 18, warn: false })
      expect(await at.store.readBudget(tenant, NOON, 100)).toMatchObject({ last_warned_at: NOON + 1 })
    })

    test('GC-79 nobody spends less than nothing', async () => {
      const tenant = await newTenant(at.store)
      for (const tokens of [-1, Number.NaN])
        await expect(at.store.spendBudget(tenant, tokens, NOON, 100)).rejects.toMatchObject(
          coded('gateway.request'),
        )
      expect(await at.store.readBudget(tenant, NOON, 100)).toMatchObject({ remaining: 100 })
    })

    test('a new total leaves spent what was spent', async () => {
      const tenant = await newTenant(at.store)
      await at.store.spendBudget(tenant, 30, NOON, 100)
      const row = {
        tenant_id: tenant,
        month_start: MONTH,
        budget_total: 50,
        remaining: 20,
        last_warned_at: null,
      }
      expect(await at.store.setBudget(tenant, 50, NOON)).toEqual(row)
      expect(await at.store.readBudget(tenant, NOON, 100)).toEqual(row)
      const other = await newTenant(at.store)
      expect(await at.store.setBudget(other, 7, NOON)).toMatchObject({ budget_total: 7, remaining: 7 })
    })
  })
}
