import { expect, test } from 'vitest'
import { namedBehaviours, namedThreats } from '../../scripts/conformance/named-ids.ts'

test('a title names single behaviours, lists and ranges', () => {
  expect(namedBehaviours('OC-52 the last params win')).toEqual(['OC-52'])
  expect(namedBehaviours('OC-21 OC-22: first wins')).toEqual(['OC-21', 'OC-22'])
  expect(namedBehaviours('OC-60…63 finalize')).toEqual(['OC-60', 'OC-61', 'OC-62', 'OC-63'])
  expect(namedBehaviours('CH-1..CH-3, GC-7')).toEqual(['CH-1', 'CH-2', 'CH-3', 'GC-7'])
})

test('a title without an id names nothing', () => {
  expect(namedBehaviours('blocks rm -rf in 3 of 4 spellings')).toEqual([])
  expect(namedThreats('takes 4.7 seconds')).toEqual([])
})

test('a title names rows of one threat section', () => {
  expect(namedThreats('4.7 #104 never settles')).toEqual(['4.7 #104'])
  expect(namedThreats('4.7 #104, #105 a late answer')).toEqual(['4.7 #104', '4.7 #105'])
})
