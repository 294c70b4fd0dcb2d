import { expect, test } from 'vitest'
import { rawConnection, startGateway, toolCall } from '../../../../test/gateway/gateway.fixture.ts'
import type { Dispatcher } from '../../dispatch.ts'

function holding() {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const dispatcher: Dispatcher = {
    async dispatch() {
      reach()
      await answered
      return { eventId: 'e', decision: { kind: 'allow' }, json: '{"event_id":"e"}' }
    },
  }
  return { dispatcher, reached, answer }
}

test('what is under way is answered, idle connections are closed, new ones refused', async () => {
  const held = holding()
  const { dispatch, server, port, host, door } = await startGateway({ dispatcher: held.dispatcher })
  const idle = rawConnection(port, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  await new Promise((resolve) => idle.socket.once('data', resolve))
  const underWay = dispatch(toolCall)
  await held.reached
  const closed = server.close(5_000)
  expect(await idle.all).toMatch(/^HTTP\/1\.1 200 /)
  await expect(dispatch(toolCall)).rejects.toThrow('fetch failed')
  expect(() => door.capacity.check('any')).toThrow(expect.objectContaining({ code: 'gateway.stopping' }))
  held.answer()
  expect((await underWay).status).toBe(200)
  await closed
})

test('what takes longer than the grace is cut off', async () => {
  const held = holding()
  const { dispatch, server } = await startGateway({ dispatcher: held.dispatcher })
  const underWay = dispatch(toolCall)
  const failed = expect(underWay).rejects.toThrow('fetch failed')
  await held.reached
  await server.close(50)
  await failed
})
