import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type BadReceiver, badReceiver } from '../../testing/bad-receiver.ts'
import { type DnsScript, type LiarDns, liarDns } from '../../testing/liar-dns.ts'
import { recorder } from '../../testing/recorder.ts'
import { createOutbound, type OutboundOptions } from './outbound.ts'

let receiver: BadReceiver
beforeAll(async () => {
  receiver = await badReceiver()
})
afterAll(() => receiver.close())

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const refused = expect.objectContaining({ name: 'HookError', code: 'outbound.private_address' })

/** Calls a URL whose PORT is the one of a server that must not be reached. */
async function call(url: string, options: OutboundOptions = {}): Promise<number> {
  const outbound = createOutbound(options)
  closing.push(outbound.dispose)
  const target = new URL(url.replace('PORT', String(receiver.port)))
  const { status } = await outbound.request({ url: target, body: '{}', signal: AbortSignal.timeout(60_000) })
  return status
}

async function liar(script: DnsScript): Promise<LiarDns> {
  const dns = await liarDns(script)
  closing.push(dns.close)
  return dns
}

describe('addresses written in the URL', () => {
  test.each([
    ...['http://127.0.0.1:PORT/', 'http://127.1:PORT/', 'http://2130706433:PORT/', 'http://0x7f000001:PORT/'],
    ...[
      'http://0177.0.0.1:PORT/',
      'http://0x7f.1:PORT/',
      'http://１２７.0.0.1:PORT/',
      'http://127。0。0。1:PORT/',
    ],
    ...['http://[::1]:PORT/', 'http://[::ffff:7f00:1]:PORT/', 'http://[::ffff:127.0.0.1]:PORT/'],
    ...['http://[::7f00:1]:PORT/', 'http://[0:0:0:0:0:0:0:1]:PORT/', 'http://127.0.0.1.:PORT/'],
  ])('4.5 #66 %s', async (url) => {
    const before = receiver.connections()
    await expect(call(url)).rejects.toThrow(refused)
    expect(receiver.connections()).toBe(before)
  })

  test.each(['http://localhost:PORT/', 'http://localhost.:PORT/', 'http://LOCALHOST:PORT/'])(
    '4.5 #66 %s, which the machine itself resolves',
    async (url) => {
      const before = receiver.connections()
      await expect(call(url)).rejects.toThrow(refused)
      expect(receiver.connections()).toBe(before)
    },
  )

  test.each([
    ...[
      'http://10.0.0.1/',
      'http://172.16.0.1/',
      'http://192.168.0.1/',
      'http://100.64.0.1/',
      'http://[fc00::1]/',
    ],
    ...[
      'http://169.254.1.1/',
      'http://[fe80::1]/',
      'http://[fec0::1]/',
      'http://224.0.0.1/',
      'http://[ff02::1]/',
    ],
    ...['http://255.255.255.255/', 'http://198.18.0.1/', 'http://192.0.2.1/', 'http://[2001:db8::1]/'],
  ])('4.5 #67 %s', async (url) => {
    await expect(call(url)).rejects.toThrow(refused)
  })

  test.each([
    ...['http://169.254.169.254/latest', 'http://[fd00:ec2::254]/', 'http://168.63.129.16/machine'],
    ...['http://100.100.100.200/', 'http://192.0.0.192/', 'http://0xa9fea9fe/', 'http://[::ffff:a9fe:a9fe]/'],
  ])('4.5 #68 %s', async (url) => {
    await expect(call(url)).rejects.toThrow(refused)
    await expect(call(url, { allow: ['10.0.0.0/8', 'fd12::/16', 'metadata'] })).rejects.toThrow(refused)
  })

  test.each(['http://0.0.0.0:PORT/', 'http://0:PORT/', 'http://[::]:PORT/', 'http://0.1.2.3:PORT/'])(
    '4.5 #70 %s',
    async (url) => {
      await expect(call(url)).rejects.toThrow(refused)
    },
  )

  test('our own address is refused even where it is allowed', async () => {
    const own = () => [{ address: '127.0.0.1', port: receiver.port }]
    await expect(call('http://127.0.0.1:PORT/', { allow: ['127.0.0.1'], own })).rejects.toThrow(refused)
    const wildcard = () => [{ address: '::', port: receiver.port }]
    await expect(call('http://127.0.0.1:PORT/', { allow: ['127.0.0.1'], own: wildcard })).rejects.toThrow(
      'is this gateway itself',
    )
    const other = () => [{ address: '127.0.0.1', port: 1 }]
    expect(await call('http://127.0.0.1:PORT/allow', { allow: ['127.0.0.1'], own: other })).toBe(200)
  })
})

describe('addresses that a name server answers', () => {
  test.each([
    ['one', ['127.0.0.1']],
    ['IPv6', ['::1']],
    ['an IPv4 address inside an IPv6 one', ['::ffff:127.0.0.1']],
    ['a good one in front', ['93.184.215.14', '127.0.0.1']],
    ['a good one of the other family', ['2606:4700::1', '10.0.0.1']],
  ])('4.5 #66 %s inner address refuses the whole answer', async (_, addresses) => {
    const dns = await liar({ 'evil.example': [addresses] })
    const before = receiver.connections()
    await expect(call('http://evil.example:PORT/', { dns: [dns.server] })).rejects.toThrow(refused)
    expect(receiver.connections()).toBe(before)
  })

  test('4.5 #73 GC-61 a name that flips after the check is dialled where it was checked', async () => {
    const dns = await liar({ 'flip.example': [['127.0.0.1'], ['127.0.0.2']] })
    // Only the first answer is allowed: a second look-up would be refused, a second dial would go elsewhere.
    const options = { dns: [dns.server], allow: ['127.0.0.1'] }
    expect(await call('http://flip.example:PORT/allow', options)).toBe(200)
    expect(dns.asked.filter((question) => question.startsWith('A '))).toEqual(['A flip.example'])
  })

  test('4.5 #73 the next connection is checked anew', async () => {
    const dns = await liar({ 'flip.example': [['127.0.0.1'], ['127.0.0.2']] })
    const options = { dns: [dns.server], allow: ['127.0.0.1'] }
    expect(await call('http://flip.example:PORT/allow', options)).toBe(200)
    await expect(call('http://flip.example:PORT/allow', options)).rejects.toThrow(refused)
  })

  test('a host that the operator named may live inside, but not where clouds keep credentials', async () => {
    const dns = await liar({ 'safety.internal': [['127.0.0.1'], ['169.254.169.254']] })
    const options = { dns: [dns.server], allow: ['safety.internal'] }
    expect(await call('http://safety.internal:PORT/allow', options)).toBe(200)
    await expect(call('http://safety.internal:PORT/allow', options)).rejects.toThrow(refused)
  })

  test('no such name, and a name without an address', async () => {
    const dns = await liar({ 'empty.example': [[]] })
    const missing = expect.objectContaining({ code: 'outbound.dns' })
    await expect(call('http://gone.example/', { dns: [dns.server] })).rejects.toThrow(missing)
    await expect(call('http://empty.example/', { dns: [dns.server] })).rejects.toThrow(missing)
    await expect(call('http://odd.example/', { dns: async () => ['nonsense'] })).rejects.toThrow(missing)
  })
})

test.each([
  ['http://127.0.0.1/a?token=1', [], 'blocked_ip', 'http://127.0.0.1/a'],
  ['http://[::1]/', [], 'blocked_ip', 'http://[::1]/'],
  ['http://x.example/a', ['10.0.0.1'], 'blocked_resolved_ip', 'http://x.example/a'],
  ['http://x.example/', [], 'no_ips_resolved', 'http://x.example/'],
])('GC-62 %s is logged with reason and redacted address', async (url, answer, reason, shown) => {
  const { lines, log } = recorder()
  await expect(call(url, { dns: async () => answer, log })).rejects.toThrow()
  expect(lines).toEqual([{ name: 'security.hook.ssrf_block', fields: { url: shown, reason } }])
})

test('GC-62 a name that cannot be resolved is logged', async () => {
  const { lines, log } = recorder()
  const dns = () => Promise.reject(new Error('no server'))
  await expect(call('http://x.example/', { dns, log })).rejects.toThrow()
  expect(lines).toMatchObject([{ fields: { reason: 'dns_resolve_failed' } }])
})
