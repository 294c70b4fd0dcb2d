import { promises as dns } from 'node:dns'

/** All addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>

/**
 * Two at a time: a look-up holds one of the few threads that files and ciphers need too, and whoever runs a slow
 * name server decides for how long.
 */
const LOOKUPS = 2
let running = 0
const waiting: (() => void)[] = []

/** As the machine itself resolves names, hosts file and search domains included. */
export const resolveBySystem: Resolve = async (host) => {
  if (running >= LOOKUPS) await new Promise<void>((resolve) => waiting.push(resolve))
  else running++
  try {
    const found = await dns.lookup(host, { all: true, order: 'verbatim' })
    return found.map(({ address }) => address)
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

/** Asks name servers directly and holds no thread; knows neither hosts file nor search domains. */
export function resolveBy(servers: readonly string[]): Resolve {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 })
  resolver.setServers(servers)
  return async (host) => {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (found.length > 0) return found
    const failed = answers.map((answer) => (answer.status === 'rejected' ? answer.reason : undefined))
    const reason = failed.find((error) => error !== undefined && !isNoData(error))
    if (reason !== undefined) throw reason
    return []
  }
}

function isNoData(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENODATA'
}
