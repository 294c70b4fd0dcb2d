import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/**
 * Who may be called. `public`: anybody may call it · `inner`: only if the operator names the host or the range ·
 * `never`: only if the operator names the very address or range, since no service of ours has a reason to live there.
 */
export type Reach = 'public' | 'inner' | 'never'

const innerRanges: readonly string[] = ['private', 'uniqueLocal', 'loopback', 'carrierGradeNat']

/** Where clouds keep credentials. Some lie in ranges that are otherwise merely private, one in a public range. */
const metadata: readonly string[] = ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'].map(
  canonical,
)
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

export function reachOf(address: string): Reach {
  const ip = ipaddr.process(address)
  if (metadata.includes(ip.toString())) return 'never'
  const range = ip.range()
  if (innerRanges.includes(range)) return 'inner'
  if (range !== 'unicast') return 'never'
  // Everything outside 2000::/3 is unassigned or means something special that no list knows yet.
  return ip instanceof ipaddr.IPv6 && !ip.match(globalUnicast) ? 'never' : 'public'
}

/** One spelling per address; an IPv4 address inside an IPv6 one is the IPv4 address. */
export function canonical(address: string): string {
  return ipaddr.process(address).toString()
}

/** An address somebody listens on, as `server.address()` answers it. */
export interface Listening {
  readonly address: string
  readonly port: number
}

/** Whether a call would come back to ourselves, where a hook could switch hooks off. */
export function isOwn(address: string, port: number, own: readonly Listening[]): boolean {
  return own.some((one) => {
    if (one.port !== port) return false
    const listening = canonical(one.address)
    if (listening === address) return true
    return (listening === '0.0.0.0' || listening === '::') && isOfThisMachine(address)
  })
}

function isOfThisMachine(address: string): boolean {
  if (ipaddr.process(address).range() === 'loopback') return true
  const cards = Object.values(networkInterfaces()).flatMap((card) => card ?? [])
  return cards.some((card) => ipaddr.isValid(card.address) && canonical(card.address) === address)
}
