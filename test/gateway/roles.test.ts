import { expect, test } from 'vitest'
import { methods } from '../../src/gateway/methods.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { as, socketOf, tokenFor } from './doors.fixture.ts'
import { exec } from './judge.fixture.ts'
import { running, shared } from './running.fixture.ts'

const gateway = shared()
const order = ['agent', 'viewer', 'approver', 'operator', 'admin', 'owner']

test('GC-109 the methods of the seed need the roles it names', () => {
  const needed = Object.fromEntries(methods.map(({ name, role }) => [name, role]))
  expect(needed).toMatchObject({
    'hooks.list': 'viewer',
    'hooks.history': 'viewer',
    'hooks.test': 'operator',
    'hooks.create': 'admin',
    'hooks.update': 'admin',
    'hooks.delete': 'admin',
    'hooks.toggle': 'admin',
  })
  // Every caller may ask who it is.
  const below = methods.filter(({ role }) => order.indexOf(role) < order.indexOf('viewer'))
  expect(below.map(({ name }) => name)).toEqual(['caller.get'])
})

// Every row of the table, so that a new method cannot be forgotten.
test.each(order)(
  'GC-109 4.10 #143 through every door the role %s reaches its own methods and no others',
  async (role) => {
    const { token } = await tokenFor(gateway(), { role })
    const socket = await socketOf({ url: gateway().url, token })
    for (const { name, role: least, rest } of methods) {
      const isTooLow = order.indexOf(role) < order.indexOf(least)
      const refused = `${name} needs the role ${least}, the token has ${role}`
      const path = rest.path.replace(/:\w+/g, 'nothing')
      const body = rest.verb === 'GET' || rest.verb === 'DELETE' ? undefined : {}
      const byName = await gateway().call('POST', `/v1/call/${name}`, {}, as(token))
      const byRoute = await gateway().call(rest.verb, path, body, as(token))
      const byFrame = await socket.call(name, {})
      for (const error of [byName.body?.error, byRoute.body?.error, byFrame.error]) {
        if (isTooLow)
          expect(error).toMatchObject({
            code: 'UNAUTHORIZED',
            message: refused,
            details: { code: 'auth.scope' },
          })
        else expect(error?.message ?? '').not.toBe(refused)
      }
      if (isTooLow) expect([byName.status, byRoute.status]).toEqual([403, 403])
    }
  },
)

test('every role may dispatch, and nobody makes a token above their own', async () => {
  for (const role of order) {
    const { token } = await tokenFor(gateway(), { role })
    const event = { event: 'pre_tool_use', payload: exec('ls') }
    expect((await gateway().call('POST', '/v1/dispatch', event, as(token))).status).toBe(200)
  }
  const { token } = await tokenFor(gateway(), { role: 'admin' })
  const make = (params: object) => gateway().call('POST', '/v1/tokens', { name: 'x', ...params }, as(token))
  expect((await make({ role: 'admin' })).status).toBe(200)
  for (const beyond of [{ role: 'owner' }, { role: 'viewer', master: true }])
    expect(await make(beyond)).toMatchObject({
      status: 403,
      body: { error: { details: { code: 'auth.scope' } } },
    })
})

test('a token of one agent speaks for that agent, also unnamed, and is refused at a gate if it names another', async () => {
  const own = await running({ functions: { no: () => ({ kind: 'block', reason: 'not you' }) } })
  const hook = { event: 'pre_tool_use', handler_type: 'function', config: { name: 'no' } }
  await own.hook({ ...hook, scope: 'agent', agent_ids: ['reviewer'] })
  const { token } = await tokenFor(own, { role: 'agent', agentId: 'reviewer' })
  const event = { event: 'pre_tool_use', payload: exec('ls'), envelope: { agent: 'writer' } }
  const bound = (envelope: object) => own.call('POST', '/v1/dispatch', { ...event, envelope }, as(token))
  for (const envelope of [{}, { agent: 'reviewer' }])
    expect((await bound(envelope)).body.decision).toMatchObject({ kind: 'block', reason: 'not you' })
  expect((await bound(event.envelope)).status).toBe(403)
  expect((await own.call('POST', '/v1/dispatch', event)).body.decision).toEqual({ kind: 'allow' })
})

test('4.10 #134 a token that was revoked or has expired opens nothing', async () => {
  const clock = fakeClock()
  const own = await running({ clock })
  const status = async (token: string) => (await own.call('GET', '/v1/hooks', undefined, as(token))).status
  const revoked = await tokenFor(own, { role: 'viewer' })
  const short = await tokenFor(own, { role: 'viewer', days: 1 })
  expect([await status(revoked.token), await status(short.token)]).toEqual([200, 200])
  await own.call('DELETE', `/v1/tokens/${revoked.tokenId}`)
  expect([await status(revoked.token), await status(short.token)]).toEqual([401, 200])
  clock.stall(86_400_001)
  expect(await status(short.token)).toBe(401)
  expect(await status(own.token)).toBe(200)
})
