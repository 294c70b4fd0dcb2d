import { expect, test } from 'vitest'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import { defaultSettings } from '../settings.ts'
import { createSnapshots } from './snapshots.ts'

const TENANT = '0193a5b0-7e9d-7000-8000-0000000000aa'

const at = (cwd: string) => ({ cwd, start: cwd })

function made(maxFolders = 2) {
  const open = new Set<string>()
  let release: (() => void) | undefined
  let isHeld = false
  const snapshots = createSnapshots({
    store: {
      async loadDefinitions() {
        if (isHeld) await new Promise<void>((resolve) => (release = resolve))
        return { version: 1, hooks: [], tripped: [] }
      },
      findTenant: async () => ({ id: TENANT }) as never,
    },
    settings: { of: () => defaultSettings, reload: async () => {} },
    makeHooks: () => createHooks(),
    attachFiles(_, { cwd: folder }) {
      open.add(folder)
      return { find: () => undefined, problems: () => [`${folder} is red`], close: () => open.delete(folder) }
    },
    maxFolders,
  })
  return {
    snapshots,
    open,
    hold: () => {
      isHeld = true
    },
    letGo: () => {
      isHeld = false
      release?.()
    },
  }
}

test('so many folders are followed, and no more', async () => {
  const { snapshots, open } = made()
  for (const folder of ['/a', '/b', '/a', '/c']) await snapshots.of(TENANT, at(folder))
  expect([...open].toSorted()).toEqual(['/a', '/c'])
  expect(snapshots.fileProblems().toSorted()).toEqual(['/a is red', '/c is red'])
  await snapshots.of(TENANT)
  expect(snapshots.loaded()).toHaveLength(3)
  snapshots.close()
  expect(open.size).toBe(0)
})

test('a folder that was pushed out or closed while it was loaded is not followed afterwards', async () => {
  const { snapshots, open, hold, letGo } = made(1)
  await snapshots.of(TENANT, at('/first'))
  hold()
  const late = snapshots.of(TENANT, at('/late'))
  await Promise.resolve()
  snapshots.close()
  letGo()
  expect(await late).toMatchObject({ tenant: TENANT })
  expect(open.size).toBe(0)
})
