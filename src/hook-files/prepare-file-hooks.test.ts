import { expect, test } from 'vitest'
import type { HookFolder } from './hook-folders.ts'
import { checkManagedFields, prepareFileHooks } from './prepare-file-hooks.ts'

const folder = (level: HookFolder['level'], label: string = level): HookFolder => ({
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
  const ids = () => prepareFileHooks(hooks, folder('user')).map(({ id }) => id)
  expect(ids()).toEqual(['user/stop', 'user/run-the-tests', 'user/stop-3', 'user/stop-2', 'own'])
  expect(ids()).toEqual(ids())
})

test('scope is tenant unless the file says otherwise', () => {
  expect(
    prepareFileHooks([stop, { ...stop, scope: 'global' }], folder('user')).map(({ scope }) => scope),
  ).toEqual(['tenant', 'global'])
})

test('managed hooks are locked and have ids that no other file may use', () => {
  expect(prepareFileHooks([{ ...stop, id: 'no-rm' }, stop], folder('managed'))).toMatchObject([
    { id: 'managed/no-rm', locked: true },
    { id: 'managed/stop', locked: true },
  ])
  const hooks = [
    { ...stop, id: 'managed/no-rm' },
    { ...stop, locked: true },
  ]
  expect(
    checkManagedFields(hooks, folder('repository')).map(({ path, error }) => [path, error.code]),
  ).toEqual([
    [['hooks', 0, 'id'], 'config.field'],
    [['hooks', 1, 'locked'], 'config.field'],
  ])
  expect(checkManagedFields(hooks, folder('managed'))).toEqual([])
})
