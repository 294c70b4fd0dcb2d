import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  admin,
  guard,
  master,
  openTestMethods,
  otherAdmin,
  type TestMethods,
} from '../../test/gateway/test-methods.fixture.ts'
import type { Caller } from '../access/caller.ts'
import type { StatusLine } from '../methods/status-part.ts'
import { createNodeChanges } from '../stored-hooks/snapshots/node-changes.ts'

const viewer: Caller = { ...admin, role: 'viewer' }
const otherViewer: Caller = { ...otherAdmin, role: 'viewer' }

let methods: TestMethods
beforeAll(async () => {
  methods = await openTestMethods({ edition: 'standard' })
})
afterAll(() => methods.close())

type Parts = Parameters<TestMethods['call']>[3]

const cursorOf = async (caller = viewer, parts: Parts = {}) =>
  (await methods.call('changes.tail', {}, caller, parts)).nextCursor

const kindsSince = async (cursor: string, caller = viewer, parts: Parts = {}) =>
  (await methods.call('changes.tail', { cursor }, caller, parts)).changes.map(({ kind }) => kind)

describe('changes.tail', () => {
  test('without a cursor nothing has changed, and a cursor of now has no changes', async () => {
    const first = await methods.call('changes.tail', {}, viewer)
    expect(first.changes).toEqual([])
    expect(await kindsSince(first.nextCursor)).toEqual([])
  })

  test('a viewer learns which kinds have changed, each once, and none of the content', async () => {
    const cursor = await cursorOf()
    await methods.call('hooks.create', { ...guard, name: 'quite-secret-name' })
    await methods.call('secrets.set', { name: 'KEY', value: 'a-secret-value' })
    await methods.call('secrets.set', { name: 'OTHER', value: 'a-secret-value' })
    const page = await methods.call('changes.tail', { cursor }, viewer)
    expect(page.changes).toEqual([{ kind: 'hooks' }, { kind: 'secrets' }])
    expect(JSON.stringify(page) + Buffer.from(page.nextCursor, 'base64url')).not.toMatch(/secret-/)
    expect(await kindsSince(page.nextCursor)).toEqual([])
  })

  test('changes of one tenant are none of another', async () => {
    const cursor = await cursorOf(otherViewer)
    await methods.call('hooks.create', guard)
    await methods.call('tokens.create', { name: 'reader', role: 'viewer' })
    expect(await kindsSince(cursor, otherViewer)).toEqual([])
  })

  test('only a master caller learns that the list of tenants has changed', async () => {
    const [seen, unseen] = [await cursorOf(master), await cursorOf()]
    await methods.call('tenants.create', { name: 'initech' }, master)
    expect(await kindsSince(seen, master)).toEqual(['tenants'])
    expect(await kindsSince(unseen)).toEqual([])
  })

  test('a page that is too short goes on with the kinds that are left', async () => {
    const cursor = await cursorOf()
    await methods.call('hooks.create', guard)
    await methods.call('budgets.set', { total: 900 })
    const first = await methods.call('changes.tail', { cursor, limit: 1 }, viewer)
    expect(first.changes).toEqual([{ kind: 'hooks' }])
    expect(await kindsSince(first.nextCursor)).toEqual(['budget'])
  })

  test('a part that becomes unhealthy is a change, its wording while it is well is not', async () => {
    let line: StatusLine = { name: 'store', state: 'ok', text: 'confirmed 1 ms ago' }
    const parts = { status: [() => line] }
    const cursor = await cursorOf(viewer, parts)
    line = { ...line, text: 'confirmed 2 ms ago' }
    expect(await kindsSince(cursor, viewer, parts)).toEqual([])
    line = { ...line, state: 'bad', text: 'does not answer' }
    expect(await kindsSince(cursor, viewer, parts)).toEqual(['health'])
  })

  test('hooks have changed again once this node uses them, for their tenant only', async () => {
    const nodeChanges = createNodeChanges()
    const stored = await cursorOf(viewer, { nodeChanges })
    await methods.call('hooks.create', guard)
    const { changes, nextCursor } = await methods.call('changes.tail', { cursor: stored }, viewer, {
      nodeChanges,
    })
    expect(changes).toEqual([{ kind: 'hooks' }])
    const other = await cursorOf(otherViewer, { nodeChanges })
    nodeChanges.notifyHookLoad(viewer.tenant)
    expect(await kindsSince(nextCursor, viewer, { nodeChanges })).toEqual(['hooks'])
    expect(await kindsSince(other, otherViewer, { nodeChanges })).toEqual([])
  })

  test('hook files that are loaded again are changed hooks', async () => {
    const nodeChanges = createNodeChanges()
    const cursor = await cursorOf(viewer, { nodeChanges })
    nodeChanges.notifyHookLoad()
    expect(await kindsSince(cursor, viewer, { nodeChanges })).toEqual(['hooks'])
  })

  test.each(['x', 'WzFd', 'e30'])('the cursor %s, which no page returned, is refused', async (cursor) => {
    await expect(kindsSince(cursor)).rejects.toMatchObject({ code: 'gateway.request' })
  })
})
