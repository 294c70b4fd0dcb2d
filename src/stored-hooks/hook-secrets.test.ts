import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ACME,
  admin,
  guard,
  master,
  openTestMethods,
  type TestMethods,
} from '../../test/gateway/test-methods.fixture.ts'
import { MASTER_TENANT } from '../access/tenant-tables.ts'
import { hookConfigPath } from '../database/sealed-paths.ts'
import { type BadReceiver, badReceiver } from '../testing/bad-receiver.ts'

let methods: TestMethods
let receiver: BadReceiver
beforeAll(async () => {
  methods = await openTestMethods()
  receiver = await badReceiver()
})
afterAll(async () => {
  await receiver.close()
  await methods.close()
})

const MASK = '********'
const BEARER = 'Bearer abcdefgh12345678'
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const operator = { ...admin, role: 'operator' } as const

const webhook = (config: object) => ({ ...guard, config: { url: `${receiver.origin}/allow`, ...config } })
const create = async (config: object) => (await methods.call('hooks.create', webhook(config))).hookId
const row = async (id: string) => {
  const found = await methods.store.findHook(ACME, id)
  return (found?.config ?? {}) as { headers: Record<string, string>; secret: string | string[]; url: string }
}
const sent = () => receiver.received.at(-1)?.headers ?? {}
const sample = { toolName: 'exec', toolInput: {} }

describe('what is stored and shown', () => {
  test('headers and the signing secret are sealed for their place, and shown to nobody', async () => {
    const headers = {
      authorization: BEARER,
      'X-Api-Key': 'key-1',
      'X-Session-Token': 'token-1',
      Cookie: 'a=b',
      'X-Client-Secret': 'secret-1',
      'X-Whatever': 'whatever-1',
      'User-Agent': 'plain',
    }
    const id = await create({ headers, secret })
    const stored = await row(id)
    for (const [name, value] of Object.entries(headers)) {
      if (name === 'User-Agent') expect(stored.headers[name]).toBe('plain')
      else {
        expect(stored.headers[name]).toMatch(/^aes-gcm:k1:/)
        const place = hookConfigPath(id, `/headers/${name}`)
        expect(methods.parts.secrets.decrypt(stored.headers[name] ?? '', place)).toBe(value)
      }
    }
    const { hook } = await methods.call('hooks.get', { hookId: id })
    const { hooks } = await methods.call('hooks.list', {}, master)
    expect(hook.config).toMatchObject({
      headers: { authorization: MASK, 'User-Agent': 'plain' },
      secret: MASK,
    })
    expect(JSON.stringify([hook, hooks])).not.toMatch(
      /abcdefgh|aes-gcm|whsec|key-1|token-1|secret-1|whatever-1/,
    )
  })

  test('several signing secrets are sealed one by one', async () => {
    const id = await create({ secret: [secret, secret] })
    const stored = await row(id)
    expect(new Set(stored.secret).size).toBe(2)
    const place = hookConfigPath(id, '/secret/1')
    expect(methods.parts.secrets.decrypt(stored.secret[1] ?? '', place)).toBe(secret)
  })

  test('a sealed text from another place is refused, wherever it is pasted', async () => {
    const other =
      (await row(await create({ headers: { Authorization: BEARER } }))).headers.Authorization ?? ''
    const id = await create({ headers: { Authorization: BEARER } })
    for (const config of [
      { headers: { Authorization: other } },
      { headers: { 'User-Agent': other } },
      { secret: other },
    ]) {
      await expect(create(config)).rejects.toMatchObject({ code: 'config.field' })
      await expect(
        methods.call('hooks.update', { hookId: id, updates: webhook(config) }),
      ).rejects.toMatchObject({ code: 'config.field' })
    }
  })

  test('a header that could be no header is refused before it is sealed', async () => {
    await expect(create({ headers: { Authorization: 'a\r\nX-Evil: 1' } })).rejects.toMatchObject({
      code: 'config.field',
    })
    // Sealed it would be longer than a header may be, and could not be loaded.
    await expect(create({ headers: { Authorization: 'x'.repeat(8_000) } })).rejects.toMatchObject({
      code: 'config.field',
    })
  })
})

describe('an update that sends the stars back', () => {
  test('keeps what is stored', async () => {
    const id = await create({ headers: { Authorization: BEARER, 'User-Agent': 'a' } })
    const config = { url: `${receiver.origin}/allow`, headers: { Authorization: MASK, 'User-Agent': 'b' } }
    await methods.call('hooks.update', { hookId: id, updates: { config } })
    const stored = await row(id)
    expect(stored.headers['User-Agent']).toBe('b')
    const place = hookConfigPath(id, '/headers/Authorization')
    expect(methods.parts.secrets.decrypt(stored.headers.Authorization ?? '', place)).toBe(BEARER)
  })

  test('must give the secret again when the address changes', async () => {
    const id = await create({ headers: { Authorization: BEARER } })
    for (const url of ['https://evil.example/', `${receiver.origin}/echo`]) {
      const config = { url, headers: { Authorization: MASK } }
      await expect(methods.call('hooks.update', { hookId: id, updates: { config } })).rejects.toMatchObject({
        code: 'config.field',
        at: 'config.headers.Authorization',
      })
    }
  })

  test('cannot keep what was never there', async () => {
    await expect(create({ headers: { Authorization: MASK } })).rejects.toMatchObject({ code: 'config.field' })
  })
})

describe('secrets by name', () => {
  test('a hook sends the secret of its tenant, and is shown with its name', async () => {
    await methods.call('secrets.set', { name: 'safety', value: BEARER })
    const headers = { Authorization: 'secret:safety' }
    const id = await create({ headers })
    expect((await row(id)).headers).toEqual(headers)
    expect((await methods.call('hooks.get', { hookId: id })).hook.config).toMatchObject({ headers })
    const { result } = await methods.call('hooks.test', { hookId: id, sampleEvent: sample })
    expect(result).toMatchObject({ decision: 'allow', statusCode: 200 })
    expect(sent().authorization).toBe(BEARER)
  })

  test('4.10 #142 not that of another tenant, and a global hook sends that of the master scope', async () => {
    await methods.store.putSecret({
      tenant_id: MASTER_TENANT,
      name: 'everybody',
      sealed: methods.parts.secrets.encrypt('Bearer master-secret', {
        table: 'secrets',
        row: `${MASTER_TENANT}/everybody`,
        column: 'sealed',
      }),
      updated_at: 0,
    })
    const headers = { Authorization: 'secret:everybody' }
    const tried = (hook: object, caller: typeof admin) =>
      methods.call('hooks.test', { config: hook, sampleEvent: sample }, caller)
    const before = receiver.received.length
    expect((await tried(webhook({ headers }), admin)).result).toMatchObject({
      decision: 'error',
      code: 'secret.unreadable',
    })
    expect(receiver.received).toHaveLength(before)
    await tried({ ...webhook({ headers }), scope: 'global' }, master)
    expect(sent().authorization).toBe('Bearer master-secret')
  })

  test('a signing secret may be one of them', async () => {
    await methods.call('secrets.set', { name: 'signing', value: secret })
    await methods.call('hooks.test', { config: webhook({ secret: 'secret:signing' }), sampleEvent: sample })
    expect(sent()['webhook-signature']).toMatch(/^v1,/)
  })
})

describe('hooks.test and stored secrets', () => {
  test('a stored hook is tried with what it has', async () => {
    const hookId = await create({ headers: { Authorization: BEARER } })
    await methods.call('hooks.test', { hookId, sampleEvent: sample }, operator)
    expect(sent().authorization).toBe(BEARER)
    const config = webhook({ headers: { Authorization: MASK } })
    await methods.call('hooks.test', { hookId, config, sampleEvent: sample })
    expect(sent().authorization).toBe(BEARER)
  })

  test('an operator cannot have one sent elsewhere', async () => {
    const hookId = await create({ headers: { Authorization: BEARER } })
    const stolen = [
      { hookId, config: { config: { url: 'http://127.0.0.1:9/', headers: { Authorization: MASK } } } },
      { hookId, config: { config: { url: `${receiver.origin}/block`, headers: { Authorization: MASK } } } },
      { config: webhook({ headers: { 'X-Anything': 'secret:safety' } }) },
    ]
    const before = receiver.received.length
    for (const params of stolen)
      await expect(methods.call('hooks.test', params, operator)).rejects.toMatchObject({ code: 'auth.scope' })
    expect(receiver.received).toHaveLength(before)
  })
})
