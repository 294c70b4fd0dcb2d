import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  guard,
  master,
  openTestMethods,
  type TestMethods,
} from '../../../../test/gateway/test-methods.fixture.ts'
import { recorder } from '../../../testing/recorder.ts'
import { disableCommands } from './first-start.ts'

let methods: TestMethods
beforeAll(async () => {
  methods = await openTestMethods()
})
afterAll(() => methods.close())

test('GC-18 the standard edition switches off the commands it finds, once; lite leaves them', async () => {
  const command = { ...guard, handler_type: 'command', config: { command: 'cat' } }
  const make = async (hook: object) => (await methods.call('hooks.create', hook, master)).hookId
  const ids = [await make(command), await make({ ...command, scope: 'global' }), await make(guard)]
  const states = () =>
    Promise.all(ids.map(async (hookId) => (await methods.call('hooks.get', { hookId }, master)).hook))
  const seen = recorder()
  const at = { clock: methods.clock, log: seen.log }
  await disableCommands(methods.store, 'lite', at)
  expect((await states()).map(({ enabled }) => enabled)).toEqual([true, true, true])
  await disableCommands(methods.store, 'standard', at)
  const after = await states()
  expect(after.map(({ enabled }) => enabled)).toEqual([false, false, true])
  await disableCommands(methods.store, 'standard', at)
  expect(await states()).toEqual(after)
  expect(seen.lines).toEqual([
    { name: 'hooks.command_hook_auto_disabled', fields: { hooks: 2 } },
    { name: 'hooks.command_migration_complete', fields: { hooks: 2 } },
    { name: 'hooks.command_migration_complete', fields: { hooks: 0 } },
  ])
})
