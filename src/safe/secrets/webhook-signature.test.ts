import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { readSigningKey, signWebhook, verifyWebhook, webhookId } from './webhook-signature.ts'

const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`
const [first, second, stranger] = [newSecret(), newSecret(), newSecret()]
const clock = fakeClock()
const body = '{"event":"pre_tool_use","text":"é"}'

function sent(secrets: readonly string[], { age = 0, id = webhookId('hook', 'event') } = {}) {
  const timestamp = Math.floor(clock.now() / 1_000) - age
  const signature = signWebhook({ id, timestamp, body }, secrets.map(readSigningKey))
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature }
}

test('4.5 #88 one event and one hook have one id; another event, hook or split of both has another', () => {
  const ids = [
    webhookId('h', 'e'),
    webhookId('h', 'e2'),
    webhookId('h2', 'e'),
    webhookId('he', ''),
    webhookId('', 'he'),
  ]
  expect(new Set(ids).size).toBe(5)
  expect(webhookId('h', 'e')).toBe(ids[0])
  expect(ids.join()).not.toContain('.')
})

test('4.5 #89 what we sign verifies, as text and as bytes, with headers in any case', () => {
  const headers = sent([first])
  expect(verifyWebhook(headers, body, { secrets: [first], clock })).toBeUndefined()
  expect(verifyWebhook(headers, Buffer.from(body), { secrets: [first], clock })).toBeUndefined()
  const shouted = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  )
  expect(verifyWebhook(shouted, body, { secrets: [first], clock })).toBeUndefined()
})

test('4.5 #89 in the overlap of a rotation old and new receivers accept, and a receiver with both accepts either', () => {
  const both = sent([second, first])
  for (const secret of [first, second])
    expect(verifyWebhook(both, body, { secrets: [secret], clock })).toBeUndefined()
  for (const secret of [first, second])
    expect(verifyWebhook(sent([secret]), body, { secrets: [first, second], clock })).toBeUndefined()
})

test('4.5 #89 old and future timestamps are stale', () => {
  expect(verifyWebhook(sent([first], { age: 300 }), body, { secrets: [first], clock })).toBeUndefined()
  expect(verifyWebhook(sent([first], { age: 301 }), body, { secrets: [first], clock })).toBe('stale')
  expect(verifyWebhook(sent([first], { age: -301 }), body, { secrets: [first], clock })).toBe('stale')
  expect(
    verifyWebhook(sent([first], { age: 9 }), body, { secrets: [first], clock, toleranceSeconds: 8 }),
  ).toBe('stale')
})

test('4.5 #89 a wrong key, body, id, time or signature is forged', () => {
  const headers = sent([first])
  const check = (changed: object, text = body) =>
    verifyWebhook({ ...headers, ...changed }, text, { secrets: [first, second], clock })
  expect(check(sent([stranger]))).toBe('forged')
  expect(check({}, `${body} `)).toBe('forged')
  expect(check({ 'webhook-id': 'msg_other' })).toBe('forged')
  expect(check({ 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) })).toBe('forged')
  expect(check({ 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v1a,') })).toBe('forged')
  expect(check({ 'webhook-signature': 'v1, v1,AAAA x' })).toBe('forged')
  const filler = 'v1,AAAA '.repeat(100_000)
  expect(check({ 'webhook-signature': filler + headers['webhook-signature'] })).toBe('forged')
})

test.each([
  { 'webhook-id': undefined },
  { 'webhook-signature': ['a', 'b'] },
  { 'webhook-timestamp': 'soon' },
  { 'webhook-timestamp': '-1' },
  { 'webhook-timestamp': '9'.repeat(400) },
])('4.5 #89 a call without the three headers is unsigned: %j', (changed) => {
  expect(verifyWebhook({ ...sent([first]), ...changed }, body, { secrets: [first], clock })).toBe('unsigned')
})

test.each(['', 'whsec_', 'whsec_short', 'whsec_!!!!', `whsec_${'A'.repeat(400)}`])(
  '%j is no signing key',
  (secret) => {
    expect(() => readSigningKey(secret)).toThrow(expect.objectContaining({ code: 'secret.key' }))
  },
)

test('the reference implementation accepts what we sign, and we accept what it signs', () => {
  const id = webhookId('hook', 'event')
  const now = new Date()
  const timestamp = Math.floor(now.getTime() / 1_000)
  const signature = signWebhook({ id, timestamp, body }, [readSigningKey(first)])
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature }
  const reference = new Webhook(first)
  expect(reference.verify(body, headers)).toEqual(JSON.parse(body))
  expect(reference.sign(id, now, body)).toBe(signature)
})
