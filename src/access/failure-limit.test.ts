import { expect, test } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { createFailureLimit, sourceNetwork } from './failure-limit.ts'

test('one place is blocked for the rest of its minute, others are not', async () => {
  const clock = fakeClock()
  const failures = createFailureLimit(clock, 3)
  for (let count = 0; count < 3; count += 1) failures.count('a')
  await clock.advance(10_000)
  expect(failures.wait('a')).toBe(50_000)
  expect(failures.wait('b')).toBe(0)
  await clock.advance(50_000)
  expect(failures.wait('a')).toBe(0)
})

test.each([
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:aaaa::1', '20010db800010002/64'],
  [undefined, 'unknown'],
])('%s counts as %s', (address, place) => {
  expect(sourceNetwork(address)).toBe(place)
})
