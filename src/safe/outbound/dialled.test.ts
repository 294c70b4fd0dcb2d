import { BlockList, isIPv6, Socket } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createOutbound } from './outbound.ts'

/** Everything that must not be dialled unless it is allowed, written down apart from the code. */
const inner4 = new BlockList()
for (const range of [
  ...[
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
  ],
  ...['192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3', '168.63.129.16/32'],
])
  inner4.addSubnet(range.replace(/\/.*/, ''), Number(range.replace(/.*\//, '')))

function isInner(address: string): boolean {
  if (!isIPv6(address)) return inner4.check(address)
  return !/^[23]/.test(address) || /^(2002:|2001:(0?:|db8:|[12][0-9a-f]?:))/.test(address)
}

const v4 = fc.oneof(
  fc.ipV4(),
  fc.constantFrom(
    '127.0.0.1',
    '10.1.2.3',
    '10.2.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '8.8.8.8',
    '0.0.0.0',
  ),
)
const address = fc.oneof(
  v4,
  fc.ipV6(),
  v4.map((ip) => `::ffff:${ip}`),
  fc.constantFrom('::1', 'fe80::1', '2606:4700::1'),
)
const host = fc.oneof(
  fc.constantFrom('a.example', 'safety.internal', 'localhost', 'x.nip.io'),
  v4,
  v4.map((ip) => String(ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0))),
  fc.ipV6().map((ip) => `[${ip}]`),
)

test('for any URL and any answer of DNS, what is dialled was allowed', async () => {
  await fc.assert(
    fc.asyncProperty(
      host,
      fc.constantFrom('', ':8080'),
      fc.array(address, { maxLength: 4 }),
      async (name, port, answer) => {
        const dialled: string[] = []
        const outbound = createOutbound({
          allow: ['10.1.0.0/16', '127.0.0.1:8080', 'safety.internal'],
          dns: async () => answer,
          // Notes where the call would go, and sends no packet.
          dial:
            ({ addresses }) =>
            (_target, done) => {
              dialled.push(...addresses)
              done(new Error('not dialled'), null)
              return new Socket()
            },
        })
        const url = `http://${name}${port}/`
        if (!URL.canParse(url)) return
        await outbound
          .request({ url: new URL(url), signal: new AbortController().signal })
          .catch(() => undefined)
        await outbound.dispose()
        for (const ip of dialled) {
          const byRange = !isIPv6(ip) && ip.startsWith('10.1.')
          const byPort = ip === '127.0.0.1' && port === ':8080'
          const byName = name === 'safety.internal' && !ip.startsWith('169.254.') && ip !== '0.0.0.0'
          if (isInner(ip))
            expect({ url, ip, allowed: byRange || byPort || byName }).toMatchObject({ allowed: true })
        }
      },
    ),
    { numRuns: 2_000 },
  )
})
