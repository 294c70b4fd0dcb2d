import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  admin,
  openTestMethods,
  otherAdmin,
  type TestMethods,
} from '../../../test/gateway/test-methods.fixture.ts'

let methods: TestMethods
let standard: TestMethods
beforeAll(async () => {
  methods = await openTestMethods()
  standard = await openTestMethods({ edition: 'standard' })
})
afterAll(() => Promise.all([methods.close(), standard.close()]))

const trigger = { event: 'PostToolUseFailure', outcome: 'failed' }
const actions = [{ type: 'notify_team' }]

test.each([
  ['an unknown event', { trigger: { event: 'PostToolFailure' }, actions }, 'input.unknown_event'],
  ['no action', { trigger, actions: [] }, 'config.field'],
  ['an unknown action', { trigger, actions: [{ type: 'explode' }] }, 'config.field'],
  [
    'a webhook without an address',
    { trigger, actions: [{ type: 'call_webhook', config: {} }] },
    'config.url',
  ],
  ['a command that is none', { trigger, actions: [{ type: 'run_command', config: {} }] }, 'config.field'],
  ['outcome and outcomes', { trigger: { ...trigger, outcomes: ['failed'] }, actions }, 'config.field'],
])('CH-9 a rule with %s is refused when it is saved', async (_, rule, code) => {
  await expect(methods.call('rules.create', { id: 'bad', ...rule })).rejects.toMatchObject({ code })
  expect((await methods.call('rules.list', {})).rules.filter(({ id }) => id === 'bad')).toEqual([])
})

test('a rule has one version after the other; a stale change and a taken id are conflicts', async () => {
  const { rule } = await methods.call('rules.create', { id: 'r', trigger, actions })
  expect(rule).toMatchObject({ id: 'r', enabled: true, version: 1, source: 'stored', problem: null })
  await expect(methods.call('rules.create', { id: 'r', trigger, actions })).rejects.toMatchObject({
    code: 'gateway.conflict',
  })
  await methods.call('rules.update', { id: 'r', cooldownMs: 5, version: 1 })
  await expect(methods.call('rules.update', { id: 'r', cooldownMs: 6, version: 1 })).rejects.toMatchObject({
    code: 'gateway.conflict',
  })
  const changed = await methods.call('rules.update', { id: 'r', cooldownMs: null })
  expect(changed.rule).toMatchObject({ version: 3, definition: { trigger, actions } })
  expect(changed.rule.definition).not.toHaveProperty('cooldownMs')
})

test('rules, teams and environments of another tenant are not found', async () => {
  await methods.call('rules.create', { id: 'own', trigger, actions })
  await methods.call('teams.create', { name: 'own', members: [] })
  const definition = { type: 'http', config: { url: 'https://pool.example' } }
  await methods.call('environments.create', { name: 'own', definition })
  const missing = { code: 'gateway.not_found' }
  await expect(methods.call('rules.delete', { id: 'own' }, otherAdmin)).rejects.toMatchObject(missing)
  await expect(methods.call('teams.show', { name: 'own' }, otherAdmin)).rejects.toMatchObject(missing)
  await expect(methods.call('environments.delete', { name: 'own' }, otherAdmin)).rejects.toMatchObject(
    missing,
  )
  expect((await methods.call('rules.list', {}, otherAdmin)).rules).toEqual([])
})

test('headers and signing secrets of webhooks are shown to administrators only', async () => {
  const config = { url: 'https://receiver.example', headers: { authorization: 'Bearer 12345678' } }
  await methods.call('rules.create', { id: 'secret', trigger, actions: [{ type: 'call_webhook', config }] })
  const shownTo = async (role: 'viewer' | 'admin') =>
    JSON.stringify((await methods.call('rules.list', {}, { ...admin, role })).rules)
  expect(await shownTo('viewer')).not.toContain('12345678')
  expect(await shownTo('admin')).toContain('12345678')
})

test('the standard edition refuses commands in rules and environments', async () => {
  const refused = { code: 'handler.not_in_edition' }
  const command = { type: 'run_command', config: { command: 'true' } }
  await expect(standard.call('rules.create', { id: 'r', trigger, actions: [command] })).rejects.toMatchObject(
    refused,
  )
  const definition = { type: 'process', exec: ['true'] }
  await expect(standard.call('environments.create', { name: 'e', definition })).rejects.toMatchObject(refused)
})

test('an environment may not pass on variables that load code', async () => {
  const definition = { type: 'process', exec: ['true'], allowed_env_vars: ['NODE_OPTIONS'] }
  await expect(methods.call('environments.create', { name: 'e', definition })).rejects.toMatchObject({
    code: 'config.field',
  })
})

test('a problem of a command or webhook is named with the field of the rule that has it', async () => {
  const notify = { type: 'notify_team' }
  const rule = { id: 'r', trigger, actions: [notify, { type: 'call_webhook', config: { url: 'nowhere' } }] }
  await expect(methods.call('rules.create', rule)).rejects.toMatchObject({ at: 'actions.1.config.url' })
  const command = { ...rule, actions: [notify, { type: 'run_command', config: {} }] }
  await expect(standard.call('rules.create', command)).rejects.toMatchObject({ at: 'actions.1.type' })
})

test('a rule that is not saved is checked and simulated, and stays unsaved', async () => {
  const rule = { id: 'draft', trigger, condition: { toolNames: ['Edit'] }, actions }
  const simulate = (given: object) =>
    methods.call('rules.simulate', { event: 'PostToolUseFailure', payload: { tool_name: 'Edit' }, ...given })
  expect((await simulate({ rule })).rules).toMatchObject([{ id: 'draft', matches: true }])
  expect((await simulate({ rule, payload: { tool_name: 'Bash' } })).rules).toMatchObject([
    { matches: false, unmet: { condition: 'condition.toolNames', wanted: ['Edit'], actual: 'Bash' } },
  ])
  await expect(simulate({ rule: { ...rule, cooldownMs: -1 } })).rejects.toMatchObject({ at: 'cooldownMs' })
  const { rules } = await methods.call('rules.list', {})
  expect(rules.filter(({ id }) => id === 'draft')).toEqual([])
})

test('a simulation names an event or a recorded one, and only operators may use a recorded one', async () => {
  const refused = { code: 'gateway.request' }
  await expect(methods.call('rules.simulate', {})).rejects.toMatchObject(refused)
  await expect(methods.call('rules.simulate', { event: 'stop', event_id: 'e' })).rejects.toMatchObject(
    refused,
  )
  await expect(methods.call('rules.simulate', { event_id: 'none' })).rejects.toMatchObject({
    code: 'gateway.not_found',
  })
  const viewer = { ...admin, role: 'viewer' } as const
  await expect(methods.call('rules.simulate', { event_id: 'none' }, viewer)).rejects.toMatchObject({
    code: 'auth.scope',
  })
})

test('a firing that does not exist is not found', async () => {
  await expect(methods.call('rules.firing', { firing_id: 'none' })).rejects.toMatchObject({
    code: 'gateway.not_found',
  })
})

test('the built-in agent is listed and shown, cannot be changed or deleted, and one of its name replaces it', async () => {
  const name = 'general-purpose'
  const source = async () =>
    (await methods.call('blueprints.list', {})).blueprints.find((each) => each.name === name)?.source
  expect(await source()).toBe('builtin')
  const { blueprint } = await methods.call('blueprints.show', { name })
  expect(blueprint).toMatchObject({ source: 'builtin', version: 0, definition: { type: 'autonomous' } })
  const conflict = { code: 'gateway.conflict' }
  await expect(methods.call('blueprints.delete', { name })).rejects.toMatchObject(conflict)
  await expect(methods.call('blueprints.update', { name, description: 'x' })).rejects.toMatchObject(conflict)
  await methods.call('blueprints.create', { ...blueprint.definition, name, description: 'Ours.' })
  expect(await source()).toBe('stored')
  await methods.call('blueprints.delete', { name })
  expect(await source()).toBe('builtin')
})
