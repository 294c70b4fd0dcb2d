import { expect, test } from 'vitest'
import { armed, usurped } from './armed.ts'
import type { HookPlace } from './find.ts'

const place = (level: HookPlace['level'], label: string = level): HookPlace => ({
  level,
  label,
  folder: '/x',
})
const stop = { event: 'Stop', handler_type: 'script' } as const

test('a hook without an id gets one that stays the same from reload to reload', () => {
  const hooks = [
    stop,
    { ...stop, name: 'Run the  tests!' },
    stop,
    { ...stop, id: 'user/stop-2' },
    { ...stop, id: 'own' },
  ]
  const ids = () => armed(hooks, place('user')).map(({ id }) => id)
  expect(ids()).toEqual(['user/stop', 'user/run-the-tests', 'user/stop-3', 'user/stop-2', 'own'])
  expect(ids()).toEqual(ids())
})

test('scope is tenant unless the file says otherwise', () => {
  expect(armed([stop, { ...stop, scope: 'global' }], place('user')).map(({ scope }) => scope)).toEqual([
    'tenant',
    'global',
  ])
})

test('managed hooks are locked and have ids that no other file may use', () => {
  expect(armed([{ ...stop, id: 'no-rm' }, stop], place('managed'))).toMatchObject([
    { id: 'managed/no-rm', locked: true },
    { id: 'managed/stop', locked: true },
  ])
  const hooks = [
    { ...stop, id: 'managed/no-rm' },
    { ...stop, locked: true },
  ]
  expect(usurped(hooks, place('repository')).map(({ path, error }) => [path, error.code])).toEqual([
    [['hooks', 0, 'id'], 'config.field'],
    [['hooks', 1, 'locked'], 'config.field'],
  ])
  expect(usurped(hooks, place('managed'))).toEqual([])
})
