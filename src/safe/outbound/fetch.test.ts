import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BadReceiver, badReceiver } from '../../testing/bad-receiver.ts'
import { createOutbound, type Outbound } from './outbound.ts'

let receiver: BadReceiver
let outbound: Outbound
beforeAll(async () => {
  receiver = await badReceiver()
  outbound = createOutbound({ allow: ['127.0.0.1'] })
})
afterAll(async () => {
  await outbound.dispose()
  await receiver.close()
})

const failing = (code: string) => expect.objectContaining({ code })

test('posts and answers like the global one', async () => {
  const answer = await outbound.fetch(`${receiver.origin}/echo`, {
    method: 'POST',
    body: '{"a":1}',
    headers: { 'x-key': 'v' },
  })
  expect(answer).toBeInstanceOf(Response)
  expect(await answer.json()).toEqual({ a: 1 })
  expect(receiver.received.at(-1)).toMatchObject({ method: 'POST', headers: { 'x-key': 'v' } })
})

test('takes a Request, too', async () => {
  const request = new Request(`${receiver.origin}/echo`, {
    method: 'POST',
    body: 'text',
    headers: { 'x-key': 'r' },
  })
  expect(await (await outbound.fetch(request)).text()).toBe('text')
  expect(receiver.received.at(-1)).toMatchObject({ headers: { 'x-key': 'r' } })
})

test('4.5 #66 is guarded, literals included', async () => {
  const strict = createOutbound()
  for (const host of ['127.0.0.1', '2130706433', '[::ffff:7f00:1]', 'localhost'])
    await expect(strict.fetch(`http://${host}:${receiver.port}/allow`)).rejects.toThrow(
      failing('outbound.private_address'),
    )
  await strict.dispose()
})

test('4.5 #74 a redirect is an error, whatever the caller asks for', async () => {
  for (const path of ['/redirect-metadata', '/redirect-self'])
    await expect(outbound.fetch(receiver.origin + path, { redirect: 'follow' })).rejects.toThrow(
      failing('outbound.redirect'),
    )
})

test('4.5 #75 other schemes and credentials are refused', async () => {
  for (const url of ['file:///etc/passwd', 'data:text/plain,x', 'http://name:pw@x.example/', 'nonsense'])
    await expect(outbound.fetch(url)).rejects.toThrow(failing('config.url'))
})

test('a flood and a bomb end at the limit', async () => {
  for (const path of ['/flood', '/gzip-bomb', '/huge']) {
    const answer = await outbound.fetch(receiver.origin + path)
    await expect(answer.text()).rejects.toThrow(failing('outbound.too_large'))
  }
})

test('4.5 #78 the signal of the caller is the deadline', async () => {
  await expect(
    outbound.fetch(`${receiver.origin}/hang`, { signal: AbortSignal.timeout(30) }),
  ).rejects.toThrow(failing('outbound.timeout'))
  await expect(outbound.fetch(`${receiver.origin}/reset`)).rejects.toThrow(failing('outbound.connection'))
})

test('an empty answer has no body', async () => {
  const answer = await outbound.fetch(`${receiver.origin}/204`)
  expect([answer.status, await answer.text()]).toEqual([204, ''])
})
