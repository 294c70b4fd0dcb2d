import { expect, test } from 'vitest'
import { openTestMethods } from '../../../test/gateway/test-methods.fixture.ts'
import { demoTenants } from '../../access/demo-tenants.ts'
import { createDemo } from './demo.ts'

test('a demo that cannot be played to its end leaves nothing', async () => {
  const methods = await openTestMethods({ edition: 'standard' })
  let events = 0
  const dispatcher = {
    dispatch: async () => {
      events++
      throw new Error('the store is gone')
    },
  }
  const demo = createDemo({ ...methods.parts, dispatcher, recorded: async () => {} })
  await expect(demo.play()).rejects.toThrow('the store is gone')
  expect(events).toBe(1)
  for (const { id } of Object.values(demoTenants)) {
    expect(await methods.store.findTenant(id)).toBeUndefined()
    expect(await methods.store.listHooks(id, { scope: 'tenant' })).toEqual([])
  }
  expect(await demo.remove()).toBe(false)
  await methods.close()
})
