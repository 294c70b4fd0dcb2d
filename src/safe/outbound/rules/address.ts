import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/**
 * Whether an address may be called. `public`: always · `inner`: if the operator allows the host or the range · `never`: only
 * if the operator allows the exact address or range, because no normal service lives there.
 */
export type Reach = 'public' | 'inner' | 'never'

const innerRanges: readonly string[] = ['private', 'uniqueLocal', 'loopback', 'carrierGradeNat']

/** Metadata services of clouds, which return credentials. Some are in private ranges, one in a public range. */
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
  // Everything outside 2000::/3 is unassigned or reserved.
  return ip instanceof ipaddr.IPv6 && !ip.match(globalUnicast) ? 'never' : 'public'
}

/** The canonical spelling. An IPv4-mapped IPv6 address becomes the IPv4 address. */
export function canonical(address: string): string {
  return ipaddr.process(address).toString()
}

/** An address that a server listens on, as `server.address()` returns it. */
export interface Listening {
  readonly address: string
  readonly port: number
}

/** Whether a call would reach this gateway, where a hook could disable hooks. */
export function isOwn(address: string, port: number, own: readonly Listening[]): boolean {
  return own.some((one) => {
    if (one.port !== port) return false
    const listening = canonical(one.address)
    if (listening === address) return true
    return (listening === '0.0.0.0' || listening === '::') && isLocalAddress(address)
  })
}

function isLocalAddress(address: string): boolean {
  if (ipaddr.process(address).range() === 'loopback') return true
  const cards = Object.values(networkInterfaces()).flatMap((card) => card ?? [])
  return cards.some((card) => ipaddr.isValid(card.address) && canonical(card.address) === address)
}
