import { describe, expect, test } from 'vitest'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import { defaultSettings } from '../../settings/settings.ts'
import type { HookRow } from '../hook-tables.ts'
import { brokenHandler } from './register-stand-in.ts'
import type { Snapshot } from './snapshot.ts'
import { Snapshots } from './snapshots.ts'

const TENANT = '0193a5b0-7e9d-7000-8000-0000000000aa'

const at = (cwd: string) => ({ cwd, start: cwd })

function made(maxFolders = 2) {
  const open = new Set<string>()
  let release: (() => void) | undefined
  let isHeld = false
  const snapshots = new Snapshots({
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
      const untrusted = {
        level: 'repository',
        folder,
        file: folder,
        state: 'untrusted',
        hooks: 0,
        problems: [],
      } as const
      return { find: () => undefined, status: () => [untrusted], close: () => open.delete(folder) }
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
  const notices = await snapshots.fileNotices(TENANT)
  expect(notices.map(({ file }) => file).toSorted()).toEqual(['/a', '/c'])
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

const row = (id: string, more: Partial<HookRow> = {}): HookRow => ({
  id,
  tenant_id: TENANT,
  event: 'pre_tool_use',
  handler_type: 'says',
  scope: 'tenant',
  agent_ids: [],
  config: {},
  priority: 0,
  enabled: true,
  version: 1,
  source: 'user',
  created_by: null,
  created_at: 1,
  updated_at: 1,
  ...more,
})

function stored(...hooks: HookRow[]) {
  let version = 1
  let loads = 0
  const handler = { type: 'says', read: () => undefined, run: () => undefined }
  const reloads: (readonly (string | undefined)[])[] = []
  const listed = ({ hooks }: Pick<Snapshot, 'hooks'>) =>
    hooks.list('pre_tool_use').map(({ id, name }) => name ?? id)
  const snapshots = new Snapshots({
    onReload: () => reloads.push(...snapshots.loaded().map(listed)),
    store: {
      async loadDefinitions(tenant) {
        if (tenant === TENANT) loads++
        return { version, hooks: tenant === TENANT ? [...hooks] : [], tripped: [] }
      },
      findTenant: async () => ({ id: TENANT }) as never,
    },
    settings: { of: () => defaultSettings, reload: async () => {} },
    makeHooks: () => createHooks({ handlers: [handler, brokenHandler] }),
  })
  const inUse = async () => listed(await snapshots.of(TENANT))
  return { snapshots, hooks, inUse, reloads, loads: () => loads, bump: () => ++version }
}

describe('the change of one hook', () => {
  test('is in use without loading the others, and the version it causes loads nothing either', async () => {
    const { snapshots, inUse, loads, bump } = stored(row('a'), row('b', { created_at: 2 }))
    expect(await inUse()).toEqual(['a', 'b'])
    await snapshots.applyChange(TENANT, { hookId: 'c', row: row('c', { created_at: 3 }) })
    expect(await inUse()).toEqual(['a', 'b', 'c'])
    await snapshots.refresh(TENANT, bump())
    expect(loads()).toBe(1)
  })

  test('keeps the place of the hook among others', async () => {
    const { snapshots, inUse } = stored(row('a'), row('b', { created_at: 2 }))
    await inUse()
    await snapshots.applyChange(TENANT, { hookId: 'a', row: row('a', { version: 2, name: 'A' }) })
    expect(await inUse()).toEqual(['A', 'b'])
  })

  test('that is older than the one in use is not applied', async () => {
    const { snapshots, inUse } = stored(row('a', { version: 5, name: 'new' }))
    await inUse()
    await snapshots.applyChange(TENANT, { hookId: 'a', row: row('a', { version: 4, name: 'old' }) })
    expect(await inUse()).toEqual(['new'])
  })

  test('removes a deleted hook', async () => {
    const { snapshots, inUse } = stored(row('a'), row('b', { created_at: 2 }))
    await inUse()
    await snapshots.applyChange(TENANT, { hookId: 'a' })
    expect(await inUse()).toEqual(['b'])
  })

  test('of another node is loaded: the version is another one', async () => {
    const { snapshots, hooks, inUse, loads, bump } = stored(row('a'))
    await inUse()
    bump()
    hooks.push(row('late', { created_at: 0 }))
    await snapshots.refresh(TENANT, bump())
    expect(await inUse()).toEqual(['late', 'a'])
    expect(loads()).toBe(2)
  })

  test('is reported when it is in use, of this node or another, and the first load is not', async () => {
    const { snapshots, hooks, inUse, reloads, bump } = stored(row('a'))
    await inUse()
    expect(reloads).toEqual([])
    await snapshots.applyChange(TENANT, { hookId: 'a', row: row('a', { version: 2, name: 'A' }) })
    expect(reloads).toEqual([['A']])
    hooks[0] = row('a', { version: 3, name: 'AA' })
    bump()
    await snapshots.refresh(TENANT, bump())
    expect(reloads).toEqual([['A'], ['AA']])
  })

  test('that cannot be loaded leaves a stand-in that fails', async () => {
    const { snapshots } = stored(row('a'))
    await snapshots.of(TENANT)
    await snapshots.applyChange(TENANT, { hookId: 'a', row: row('a', { version: 2, handler_type: 'gone' }) })
    const { broken } = await snapshots.of(TENANT)
    expect(broken.get('a')).toContain('gone')
  })
})

describe('the stand-in of a hook that cannot be loaded', () => {
  const call = { tool_name: 'Bash', tool_input: { command: 'ls' } }
  const decide = async (more: Partial<HookRow>, payload = call) => {
    const { snapshots } = stored(row('a', { handler_type: 'gone', ...more }))
    const { hooks } = await snapshots.of(TENANT)
    return (await hooks.dispatch('pre_tool_use', payload, { tenant: TENANT, agent: 'coder' })).kind
  }

  test('blocks, and keeps every condition of the hook', async () => {
    expect(await decide({})).toBe('block')
    expect(await decide({ expires_at: '2020-01-01T00:00:00Z' })).toBe('allow')
    expect(await decide({ matcher: '^Write$' })).toBe('allow')
    expect(await decide({ scope: 'agent', agent_ids: ['other'] })).toBe('allow')
    expect(await decide({ scope: 'agent', agent_ids: ['coder'] })).toBe('block')
  })

  test('applies without the condition that cannot be read, and with all others', async () => {
    expect(await decide({ matcher: '(' })).toBe('block')
    expect(await decide({ matcher: '(', expires_at: '2020-01-01T00:00:00Z' })).toBe('allow')
    expect(await decide({ expires_at: 'soon', scope: 'agent', agent_ids: ['other'] })).toBe('allow')
  })
})
