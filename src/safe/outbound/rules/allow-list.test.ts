import { expect, test } from 'vitest'
import { readAllowList } from './allow-list.ts'

const allowed = (entry: string, address: string, { host = address, port = 80 } = {}) =>
  readAllowList([entry])({ host, address, port })

test('without an entry only public addresses may be called', () => {
  const allow = readAllowList([])
  expect(allow({ host: 'x.example', address: '8.8.8.8', port: 443 })).toBe(true)
  expect(allow({ host: 'x.example', address: '10.0.0.1', port: 443 })).toBe(false)
})

test.each([
  ['127.0.0.1', '127.0.0.1', 80, true],
  ['127.0.0.1', '127.0.0.2', 80, false],
  ['127.0.0.1:8080', '127.0.0.1', 8080, true],
  ['127.0.0.1:8080', '127.0.0.1', 80, false],
  ['10.1.0.0/16', '10.1.255.255', 80, true],
  ['10.1.0.0/16', '10.2.0.0', 80, false],
  ['10.1.0.0/16:443', '10.1.0.1', 443, true],
  ['10.1.0.0/16:443', '10.1.0.1', 80, false],
  ['::1', '::1', 80, true],
  ['[::1]', '::1', 80, true],
  ['[::1]:8080', '::1', 8080, true],
  ['[::1]:8080', '::1', 80, false],
  ['fd00::/8', 'fd12::1', 80, true],
  ['fd00::/8', 'fe80::1', 80, false],
  ['[fd00::/8]:443', 'fd12::1', 443, true],
  // Not even a list that names everything in one family opens the other.
  ['0.0.0.0/0', '::1', 80, false],
])('%s for %s at port %i: %s', (entry, address, port, expected) => {
  expect(allowed(entry, address, { port })).toBe(expected)
})

test('an IPv4 address is found inside an IPv6 one', () => {
  expect(allowed('10.1.0.0/16', '::ffff:10.1.2.3')).toBe(true)
})

test('a name allows the inner addresses it stands for, in any case and with a dot at the end', () => {
  for (const host of ['safety.internal', 'SAFETY.internal', 'safety.internal.'])
    expect(allowed('Safety.internal', '10.0.0.1', { host })).toBe(true)
  expect(allowed('safety.internal', '10.0.0.1', { host: 'other.internal' })).toBe(false)
  expect(allowed('safety.internal', '10.0.0.1', { host: 'x.safety.internal' })).toBe(false)
  expect(allowed('safety.internal:8443', '10.0.0.1', { host: 'safety.internal', port: 80 })).toBe(false)
  expect(allowed('safety.internal:8443', '10.0.0.1', { host: 'safety.internal', port: 8443 })).toBe(true)
})

test.each(['169.254.169.254', '168.63.129.16', 'fd00:ec2::254', '0.0.0.0', '224.0.0.1', 'fe80::1'])(
  '4.5 #68 a name never allows %s, however it resolves; the address itself can be named',
  (address) => {
    expect(allowed('safety.internal', address, { host: 'safety.internal' })).toBe(false)
    expect(allowed(address, address)).toBe(true)
  },
)

test.each([
  ...[
    '',
    ' ',
    '*',
    '*.internal',
    'http://x',
    'a b',
    '10.1.0.0/33',
    '10.1.0.0/-1',
    '10.1/16',
    '10.1',
    '2130706433',
  ],
  ...['fd00::/129', '[::1', '127.0.0.1:0', '127.0.0.1:99999', '10.1.0.0/', 'x'.repeat(300)],
])('%j is refused', (entry) => {
  expect(() => readAllowList([entry])).toThrow(expect.objectContaining({ code: 'config.field', at: 'allow' }))
})
