import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWebhookTest, type WebhookTest } from '../../../test/handlers/webhook.fixture.ts'
import type { BaseHook } from '../../engine/core/hook.ts'
import { createSecrets } from '../../safe/secrets/secret.ts'
import { verifyWebhook } from '../../safe/secrets/webhook-signature.ts'
import type { HttpHandlerOptions } from './http.ts'

let webhook: WebhookTest
let ask: WebhookTest['ask']
beforeAll(async () => {
  webhook = await startWebhookTest()
  ask = webhook.ask
})
afterAll(() => webhook.receiver.close())

const last = () => webhook.receiver.received.at(-1)

describe('encrypted values', () => {
  const secrets = createSecrets({ current: { id: 'k1', key: Buffer.alloc(32, 7) } })
  const place = { table: 'hooks', row: 'guard', column: 'config' }
  const decrypt = (value: string, hook: BaseHook) => secrets.decrypt(value, { ...place, row: hook.id ?? '' })
  const Authorization = secrets.encrypt('Bearer abcdefgh12345678', place)

  test('GC-53 a header is decrypted for the call, and only for the call', async () => {
    const { all } = await ask('/block', { config: { headers: { Authorization } }, options: { decrypt } })
    expect(last()?.headers.authorization).toBe('Bearer abcdefgh12345678')
    expect(all).not.toContain('abcdefgh12345678')
  })

  test('GC-53 a value without the prefix is sent as it is', async () => {
    await ask('/allow', { config: { headers: { Authorization: 'Bearer plain' } }, options: { decrypt } })
    expect(last()?.headers.authorization).toBe('Bearer plain')
  })

  test('a signing secret may be encrypted too', async () => {
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    await ask('/allow', { config: { secret: secrets.encrypt(secret, place) }, options: { decrypt } })
    const { headers = {}, body = '' } = last() ?? {}
    expect(verifyWebhook(headers, body, { secrets: [secret] })).toBeUndefined()
  })

  test('a secret may be named instead, and whose tenant asks is told to whoever opens it', async () => {
    const asked: unknown[] = []
    const opener: HttpHandlerOptions['decrypt'] = async (value, hook, tenant) => {
      asked.push([value, hook.id, tenant])
      return 'Bearer abcdefgh12345678'
    }
    const config = { headers: { 'X-Any': 'secret:safety', 'X-Text': 'secret: none' } }
    const { all } = await ask('/echo', { config, options: { decrypt: opener } })
    expect(last()?.headers).toMatchObject({ 'x-any': 'Bearer abcdefgh12345678', 'x-text': 'secret: none' })
    expect(asked).toEqual([['secret:safety', 'guard', 'acme']])
    expect(all).not.toContain('abcdefgh12345678')
    const nobody = await ask('/allow', { config })
    expect(nobody.decision).toMatchObject({ kind: 'block', code: 'secret.no_key' })
  })

  const wrong = createSecrets({ current: { id: 'k1', key: Buffer.alloc(32) } })
  const throwing = () => {
    throw new Error('no')
  }
  test.each<[string, HttpHandlerOptions, string]>([
    ['a wrong key', { decrypt: (value) => wrong.decrypt(value, place) }, 'secret.unreadable'],
    ['no way to decrypt', {}, 'secret.no_key'],
    ['no key', { decrypt: (value) => createSecrets(undefined).decrypt(value, place) }, 'secret.no_key'],
    ['a decrypt that throws anything', { decrypt: throwing }, 'secret.unreadable'],
    ['a line break inside', { decrypt: () => 'a\r\nX-Evil: 1' }, 'secret.unreadable'],
  ])('4.11 #151 #152 %s closes the hook, and nothing is sent', async (_, options, code) => {
    const before = webhook.receiver.received.length
    const outbound = { allow: ['127.0.0.1'] }
    const asking = { config: { headers: { Authorization } }, options: { outbound, ...options } }
    expect((await ask('/allow', asking)).decision).toMatchObject({ kind: 'block', code })
    expect(webhook.receiver.received).toHaveLength(before)
  })

  test.each(['/echo-headers', '/400', '/reset', '/html', '/huge'])(
    '4.11 #156 #157 a receiver at %s cannot bring a secret into any record, log, trace or answer',
    async (path) => {
      const headers = { Authorization, 'X-Other': secrets.encrypt('a canary with blanks', place) }
      const asking = {
        config: { url: `${webhook.receiver.origin}${path}?token=canary-in-the-query`, headers },
        options: { decrypt },
      }
      const { all } = await ask(path, { ...asking, hook: { timeout_ms: 60_000 } })
      expect(last()?.headers['x-other']).toBe('a canary with blanks')
      expect(all).not.toMatch(/abcdefgh12345678|a canary|canary-in/)
    },
  )
})
