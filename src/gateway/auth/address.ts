import ipaddr from 'ipaddr.js'

/** Whom failures are counted for: one IPv4 address, or the network of 64 bits that one IPv6 customer has. */
export function placeOf(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined || !ipaddr.isValid(remoteAddress)) return 'unknown'
  const address = ipaddr.process(remoteAddress)
  if (address.kind() === 'ipv4') return address.toString()
  return `${Buffer.from(address.toByteArray().slice(0, 8)).toString('hex')}/64`
}

export function isLoopbackName(name: string): boolean {
  if (name === 'localhost') return true
  const bare = name.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === 'loopback'
}
