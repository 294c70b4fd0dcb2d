import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { onEachStore, shareStore } from '../../../test/store/each-store.fixture.ts'
import { coded, NOON, newTenant } from '../../../test/store/samples.fixture.ts'
import type { GuardRequest } from '../../engine/core/guard-state.ts'
import { memoryGuardState } from '../../engine/guard/memory-state.ts'

const YEAR_MS = 365 * 86_400_000
const MONTH = Date.UTC(2026, 2, 1)
const NEXT_MONTH = Date.UTC(2026, 3, 1)

const key = fc.constantFrom('a', 'b')
const small = fc.integer({ min: 1, max: 3 })
/** A hook has one window, so a key has one too. */
const windowed = fc.constantFrom({ key: 'a', windowMs: 4 }, { key: 'b', windowMs: 25 })
const request: fc.Arbitrary<GuardRequest> = fc.oneof(
  fc
    .tuple(fc.constantFrom('cooldown' as const, 'dedup' as const), windowed)
    .map(([kind, of]) => ({ kind, ...of })),
  fc.tuple(small, windowed).map(([limit, of]) => ({ kind: 'quota' as const, limit, ...of })),
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

onEachStore('state of guards', (open) => {
  const at = shareStore(open)

  describe('guards', () => {
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

    test('a window that began while the clock was a year ahead lasts one window from when it is seen', async () => {
      const tenant = await newTenant(at.store)
      const requests = [
        { kind: 'cooldown', key: 'c', windowMs: 1_000 },
        { kind: 'dedup', key: 'd', windowMs: 1_000 },
      ] as const
      for (const request of requests) {
        expect(await at.store.takeGuards(tenant, [request], NOON + YEAR_MS)).toEqual([{ pass: true }])
        expect(await at.store.takeGuards(tenant, [request], NOON)).toMatchObject([
          { pass: false, skip: expect.stringContaining('1000 ms left') },
        ])
        expect(await at.store.takeGuards(tenant, [request], NOON + 999)).toMatchObject([
          { pass: false, skip: expect.stringContaining(': 1 ms left') },
        ])
        expect(await at.store.takeGuards(tenant, [request], NOON + 1_000)).toEqual([{ pass: true }])
      }
    })

    test('a quota of a clock that was ahead keeps its count, and ends after its window', async () => {
      const tenant = await newTenant(at.store)
      const quota = { kind: 'quota', key: 'q', limit: 2, windowMs: 1_000 } as const
      const take = async (now: number) => (await at.store.takeGuards(tenant, [quota], now))[0]?.pass
      expect(await take(NOON + YEAR_MS)).toBe(true)
      expect([await take(NOON), await take(NOON + 1), await take(NOON + 1_000)]).toEqual([true, false, true])
    })

    test('a budget does not end, whatever the clock says', async () => {
      const tenant = await newTenant(at.store)
      const budget = { kind: 'budget', key: 'b', cost: 1, limit: 1 } as const
      expect(await at.store.takeGuards(tenant, [budget], NOON)).toEqual([{ pass: true }])
      for (const now of [NOON - YEAR_MS, NOON + YEAR_MS])
        expect(await at.store.takeGuards(tenant, [budget], now)).toMatchObject([{ code: 'guard.budget' }])
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
    test('GC-75 a tenant without a budget gets the total on first use', async () => {
      const tenant = await newTenant(at.store)
      const row = {
        tenant_id: tenant,
        month_start: MONTH,
        budget_total: 1_000_000,
        remaining: 1_000_000,
        last_warned_at: null,
      }
      expect(await at.store.readBudget(tenant, 1_000_000, NOON)).toEqual(row)
      expect(await at.store.readBudget(tenant, 5, NOON)).toEqual(row)
    })

    test('GC-75 a new month starts with the total again, and warns again', async () => {
      const tenant = await newTenant(at.store)
      expect(await at.store.spendBudget(tenant, 90, 100, NOON)).toEqual({ remaining: 10, warn: true })
      expect(await at.store.readBudget(tenant, 100, NEXT_MONTH - 1)).toMatchObject({ remaining: 10 })
      expect(await at.store.readBudget(tenant, 100, NEXT_MONTH)).toEqual({
        tenant_id: tenant,
        month_start: NEXT_MONTH,
        budget_total: 100,
        remaining: 100,
        last_warned_at: null,
      })
      expect(await at.store.spendBudget(tenant, 81, 100, NEXT_MONTH)).toEqual({ remaining: 19, warn: true })
    })

    test('GC-75 a month that began while the clock was ahead becomes the current one, and spent stays spent', async () => {
      const tenant = await newTenant(at.store)
      await at.store.spendBudget(tenant, 90, 100, NOON + YEAR_MS)
      expect(await at.store.readBudget(tenant, 100, NOON)).toMatchObject({
        month_start: MONTH,
        remaining: 10,
      })
      expect(await at.store.readBudget(tenant, 100, NEXT_MONTH)).toMatchObject({ remaining: 100 })
    })

    test('GC-76 what was used is taken, even below nought, and never lost to somebody else', async () => {
      const tenant = await newTenant(at.store)
      await Promise.all(Array.from({ length: 20 }, () => at.store.spendBudget(tenant, 10, 100, NOON)))
      expect(await at.store.readBudget(tenant, 100, NOON)).toMatchObject({ remaining: -100 })
    })

    test('GC-78 the warning comes once a month, when less than a fifth is left', async () => {
      const tenant = await newTenant(at.store)
      expect(await at.store.spendBudget(tenant, 80, 100, NOON)).toEqual({ remaining: 20, warn: false })
      expect(await at.store.spendBudget(tenant, 1, 100, NOON + 1)).toEqual({ remaining: 19, warn: true })
      expect(await at.store.spendBudget(tenant, 1, 100, NOON + 2)).toEqual({ remaining: 18, warn: false })
      expect(await at.store.readBudget(tenant, 100, NOON)).toMatchObject({ last_warned_at: NOON + 1 })
    })

    test('GC-79 nobody spends less than nothing', async () => {
      const tenant = await newTenant(at.store)
      for (const tokens of [-1, Number.NaN])
        await expect(at.store.spendBudget(tenant, tokens, 100, NOON)).rejects.toMatchObject(
          coded('gateway.request'),
        )
      expect(await at.store.readBudget(tenant, 100, NOON)).toMatchObject({ remaining: 100 })
    })

    test('a new total leaves spent what was spent', async () => {
      const tenant = await newTenant(at.store)
      await at.store.spendBudget(tenant, 30, 100, NOON)
      const row = {
        tenant_id: tenant,
        month_start: MONTH,
        budget_total: 50,
        remaining: 20,
        last_warned_at: null,
      }
      expect(await at.store.setBudget(tenant, 50, NOON)).toEqual(row)
      expect(await at.store.readBudget(tenant, 100, NOON)).toEqual(row)
      const other = await newTenant(at.store)
      expect(await at.store.setBudget(other, 7, NOON)).toMatchObject({ budget_total: 7, remaining: 7 })
    })
  })
})
