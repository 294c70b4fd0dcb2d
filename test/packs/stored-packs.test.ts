import { expect, test } from 'vitest'
import { hookhelm } from '../gateway/doors.fixture.ts'
import { shared } from '../gateway/running.fixture.ts'

const gateway = shared()

const decide = async (command: string) => {
  const call = { tool_name: 'Bash', tool_input: { command } }
  const { body } = await gateway().dispatch('pre_tool_use', call, { envelope: { cwd: '/srv/app' } })
  return body.decision
}
const packs = async (name: string) => {
  const { body } = await gateway().call('GET', '/v1/packs')
  return body.packs.find((pack: { readonly name: string }) => pack.name === name)
}
const forced = 'force-push/forced'

test('a pack that is added decides, and adding it again changes nothing', async () => {
  expect(await packs('force-push')).toMatchObject({ hooks: 3, present: 0, recommended: true })
  const added = await gateway().call('POST', '/v1/packs/force-push/add', {})
  expect(added).toMatchObject({ status: 200, body: { added: expect.arrayContaining([forced]), kept: [] } })
  expect(await decide('F=-f; git push $F')).toMatchObject({ kind: 'block' })
  expect(await decide('git push')).toMatchObject({ kind: 'allow' })
  const again = await gateway().call('POST', '/v1/packs/force-push/add', {})
  expect(again.body).toEqual({ added: [], replaced: [], kept: [], removed: [] })
  expect(await packs('force-push')).toMatchObject({ present: 3, changed: 0 })
})

test('a hook of a pack has its id in every command, and a change of it stays until it is replaced', async () => {
  await gateway().call('POST', '/v1/packs/force-push/add', {})
  const toggled = await hookhelm(gateway(), [
    'hooks',
    'update',
    forced,
    '--data',
    '{ "config": { "decision": "ask", "reason": "mine" } }',
  ])
  expect(toggled).toMatchObject({ code: 0 })
  expect(await decide('git push -f')).toMatchObject({ kind: 'ask', reason: 'mine' })
  expect(await packs('force-push')).toMatchObject({ present: 3, changed: 1 })
  const kept = await gateway().call('POST', '/v1/packs/force-push/add', {})
  expect(kept.body).toMatchObject({ added: [], kept: [forced] })
  const replaced = await gateway().call('POST', '/v1/packs/force-push/add', { replace: true })
  expect(replaced.body).toMatchObject({ replaced: [forced] })
  expect(await decide('git push -f')).toMatchObject({
    kind: 'block',
    reason: expect.stringContaining('new commits'),
  })
})

test.each([
  ['skipped for a day', { cooldown_ms: 86_400_000 }],
  ['expired', { expires_at: '2020-01-01T00:00:00.000Z' }],
  ['of one agent', { scope: 'agent', agent_ids: ['codex'] }],
  ['open if it fails', { on_error: 'allow' }],
  ['off', { enabled: false }],
  ['in shadow', { shadow: true }],
])('a hook of a pack that was made %s counts as changed, and is replaced on request', async (_, updates) => {
  await gateway().call('POST', '/v1/packs/force-push/add', { replace: true })
  await hookhelm(gateway(), ['hooks', 'update', forced, '--data', JSON.stringify(updates)])
  expect(await packs('force-push')).toMatchObject({ present: 3, changed: 1 })
  const kept = await gateway().call('POST', '/v1/packs/force-push/add', {})
  expect(kept.body).toMatchObject({ added: [], kept: [forced] })
  const replaced = await gateway().call('POST', '/v1/packs/force-push/add', { replace: true })
  expect(replaced.body).toMatchObject({ replaced: [forced] })
  expect(await packs('force-push')).toMatchObject({ present: 3, changed: 0 })
  for (let n = 0; n < 2; n++) expect(await decide('git push -f')).toMatchObject({ kind: 'block' })
})

test('no pack counts as changed when it was just added', async () => {
  const { body } = await gateway().call('GET', '/v1/packs')
  for (const { name } of body.packs) {
    await gateway().call('POST', `/v1/packs/${name}/add`, { replace: true })
    const { hooks, present, changed } = await packs(name)
    expect([name, present, changed]).toEqual([name, hooks, 0])
  }
  for (const { name } of body.packs) await gateway().call('DELETE', `/v1/packs/${name}`)
})

test('a pack decides as it was added last: block, shadow, ask and back', async () => {
  const add = (chosen: object) => gateway().call('POST', '/v1/packs/force-push/add', chosen)
  await add({ replace: true })
  // What a person has is not changed without `replace`, and the answer says so.
  expect((await add({ shadow: true })).body.kept).toHaveLength(3)
  expect(await decide('git push -f')).toMatchObject({ kind: 'block' })
  for (const [chosen, kind] of [
    [{ shadow: true }, 'allow'],
    [{ decision: 'ask' }, 'ask'],
    [{ decision: 'ask', shadow: true }, 'allow'],
    [{ decision: 'block' }, 'block'],
    [{}, 'block'],
  ] as const) {
    expect((await add({ ...chosen, replace: true })).body.replaced).not.toEqual([])
    expect([chosen, await decide('git push -f')]).toMatchObject([chosen, { kind }])
  }
})

test('in shadow a pack is recorded and changes nothing, and it can be removed', async () => {
  const added = await gateway().call('POST', '/v1/packs/privilege/add', { shadow: true })
  expect(added.status).toBe(200)
  expect(await decide('sudo ls')).toMatchObject({ kind: 'allow' })
  const removed = await gateway().call('DELETE', '/v1/packs/privilege')
  expect(removed.body.removed).toContain('privilege/other-user')
  expect(await packs('privilege')).toMatchObject({ present: 0 })
  const { body } = await gateway().call('GET', '/v1/packs/no-such-pack')
  expect(body.error.details).toMatchObject({ code: 'config.unknown_pack' })
})

test('the output of a tool reaches the model without its secrets', async () => {
  await gateway().call('POST', '/v1/packs/secrets/add', {})
  const token = `ghp_${'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5'}`
  const { body } = await gateway().dispatch('post_tool_use', {
    tool_name: 'Bash',
    tool_input: { command: 'x' },
    tool_response: { stdout: `token ${token}`, lines: 1 },
  })
  expect(body.decision.input).toEqual({ stdout: 'token [REDACTED]', lines: 1 })
})
