import { expect, test } from 'vitest'
import type { Behaviour } from '../../scripts/conformance/data.ts'
import { unfinishedRows } from '../../scripts/conformance/finished-sections.ts'
import { joinBehaviours } from '../../scripts/conformance/join.ts'

const row: Behaviour = {
  id: 'GC-1',
  seed: 'S2',
  section: 'C1',
  says: 'two things',
  by: 'SI',
  flags: '',
  ruling: undefined,
  missing: undefined,
}

function join(some: Partial<Behaviour>, titles: readonly string[]) {
  const section = { name: 'C1', title: '', behaviours: [{ ...row, ...some }] }
  return joinBehaviours(
    [section],
    titles.map((title) => ({ file: 'a.test.ts', title, passed: true })),
  )
}

const statusOf = (some: Partial<Behaviour>, titles: readonly string[] = ['GC-1 shows one']) =>
  join(some, titles).get('GC-1')?.status

test('a row with a named missing part is partly shown, and open without any test', () => {
  expect(statusOf({})).toBe('proved')
  expect(statusOf({ missing: 'the second thing' })).toBe('partly')
  expect(statusOf({ missing: 'the second thing' }, [])).toBe('open')
  expect(statusOf({ ruling: { ruling: 1, why: 'ruled' } })).toBe('ruled otherwise')
})

test('a finished section has no partly shown row of the seed text', () => {
  const missing = 'the second thing'
  const problems = (some: Partial<Behaviour>) => unfinishedRows(join({ missing, ...some }, ['GC-1']))
  expect(problems({})).toEqual(['GC-1 is shown only partly, but section C1 is finished: the second thing'])
  expect(problems({ by: 'IT' })).toEqual([])
  expect(problems({ section: 'D1', by: 'T' })).toEqual([])
  expect(problems({ section: 'Z1' })).toEqual([])
})
