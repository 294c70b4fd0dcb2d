import { BlockList, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonical, isOwn, reachOf } from './address.ts'

/** Written down from the registries, apart from the library that the code relies on. */
const special = {
  v4: [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
    ...[
      '192.0.0.0/24',
      '192.0.2.0/24',
      '192.88.99.0/24',
      '192.168.0.0/16',
      '198.18.0.0/15',
      '198.51.100.0/24',
    ],
    ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '168.63.129.16/32'],
  ],
  v6: [
    '::/3',
    '4000::/2',
    '8000::/1',
    '2001::/32',
    '2001:2::/48',
    '2001:10::/28',
    '2001:20::/28',
    '2001:db8::/32',
    '2002::/16',
  ],
}
function blockList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const range of ranges)
    list.addSubnet(range.replace(/\/.*/, ''), Number(range.replace(/.*\//, '')), family)
  return list
}
// Apart, because a list of both takes ::ffff:0:0/96 for the whole of IPv4.
const oracle = { v4: blockList(special.v4, 'ipv4'), v6: blockList(special.v6, 'ipv6') }

test.each([
  ...[
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '169.254.0.1',
    'fe80::1',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
  ],
  ...['192.168.1.1', 'fc00::1', 'fdff::1', '224.0.0.1', 'ff02::1', '0.0.0.0', '::'],
])('GC-60 %s is not public', (address) => {
  expect(reachOf(address)).not.toBe('public')
})

test.each([
  ...[
    '100.64.0.1',
    '100.127.255.254',
    '198.18.0.1',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '255.255.255.255',
  ],
  ...[
    'fec0::1',
    '2001:db8::1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    '2001:10::1',
    '5f00::1',
  ],
])('4.5 #67 %s is not public', (address) => {
  expect(reachOf(address)).not.toBe('public')
})

test.each([
  '169.254.169.254',
  'fd00:ec2::254',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd20:ce::254',
])('4.5 #68 %s, where a cloud keeps credentials, is reached by no host name', (address) => {
  expect(reachOf(address)).toBe('never')
})

test.each(['0.0.0.0', '::', '0.1.2.3', '0.255.255.255'])('4.5 #70 %s', (address) => {
  expect(reachOf(address)).toBe('never')
})

test.each(['::ffff:7f00:1', '::ffff:127.0.0.1', '::7f00:1', '::ffff:a9fe:a9fe', '::ffff:0:7f00:1'])(
  '4.5 #66 an IPv4 address inside an IPv6 one is what it is: %s',
  (address) => {
    expect(reachOf(address)).not.toBe('public')
  },
)

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '192.0.3.1',
  '2606:4700::1',
  '2a00::1',
  '::ffff:8.8.8.8',
])('%s is public', (address) => {
  expect(reachOf(address)).toBe('public')
})

test('for any address: what a list written by hand calls special is never public', () => {
  const edges = special.v4.map((range) => String(range.split('/')[0]))
  const v4 = fc.oneof(fc.ipV4(), fc.constantFrom(...edges))
  const any = fc.oneof(
    v4,
    fc.ipV6(),
    v4.map((address) => `::ffff:${address}`),
  )
  fc.assert(
    fc.property(any, (address) => {
      const plain = canonical(address)
      const isSpecial = isIPv6(plain) ? oracle.v6.check(plain, 'ipv6') : oracle.v4.check(plain, 'ipv4')
      if (isSpecial) expect(reachOf(address)).not.toBe('public')
    }),
    { numRuns: 5_000 },
  )
})

test('our own address is ours in every spelling, and a wildcard is every address of this machine', () => {
  const loopback = [{ address: '127.0.0.1', port: 4665 }]
  expect(isOwn(canonical('::ffff:127.0.0.1'), 4665, loopback)).toBe(true)
  expect(isOwn('127.0.0.1', 4666, loopback)).toBe(false)
  for (const address of ['0.0.0.0', '::']) {
    expect(isOwn('127.0.0.5', 80, [{ address, port: 80 }])).toBe(true)
    expect(isOwn('::1', 80, [{ address, port: 80 }])).toBe(true)
    expect(isOwn('8.8.8.8', 80, [{ address, port: 80 }])).toBe(false)
  }
})
