import { promises as dns } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { HookError } from '../../engine/core/error.ts'
import { canonical, isOwn, type Listening } from './rules/address.ts'
import type { AllowList } from './rules/allow-list.ts'

/** A call that has passed every check: these addresses and no others may be dialled. */
interface Checked {
  readonly addresses: readonly string[]
  readonly lookup: LookupFunction
}

export interface ConnectorRules {
  readonly resolve: Resolve
  readonly allow: AllowList
  readonly own: () => readonly Listening[]
  readonly ca: readonly string[] | undefined
}

type Connector = buildConnector.connector
/** How a checked call is dialled. A test that must send no packet puts its own here. */
export type Dial = (checked: Checked, rules: ConnectorRules) => Connector

const CONNECT_MS = 10_000

/** The one way out: resolves once, checks every address, and dials only what it checked. */
export function createConnector(rules: ConnectorRules, dial: Dial = dialChecked): Connector {
  return (target, callback) => {
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    checkedAddresses(target.hostname, port, rules).then(
      (addresses) => {
        dial({ addresses, lookup: only(addresses) }, rules)(target, (error, socket) => {
          if (error !== null) return callback(error, null)
          if (wasChecked(socket, addresses)) return callback(null, socket)
          socket.destroy()
          callback(refusal(target.hostname, 'was dialled at an address that was not checked'), null)
        })
      },
      (refused: Error) => callback(refused, null),
    )
  }
}

/** Resolves and checks. One bad address among good ones refuses them all: nobody honest answers so. */
async function checkedAddresses(host: string, port: number, rules: ConnectorRules): Promise<string[]> {
  const found = isIP(host) ? [host] : await resolved(host, rules.resolve)
  const own = rules.own()
  return found.map((given) => {
    const address = isIP(given) ? canonical(given) : ''
    if (address === '')
      throw new HookError('outbound.dns', `${host} resolved to something that is no address`)
    if (isOwn(address, port, own)) throw refusal(host, 'is this gateway itself')
    if (!rules.allow({ host, address, port }))
      throw refusal(host, 'is or resolves to a private or special address')
    return address
  })
}

async function resolved(host: string, resolve: Resolve): Promise<readonly string[]> {
  let found: readonly string[]
  try {
    // A dot at the end is an absolute name, and files of hosts have only plain ones.
    found = await resolve(host.replace(/^localhost\.$/i, 'localhost'))
  } catch (cause) {
    throw new HookError('outbound.dns', `${host} could not be resolved`, { cause })
  }
  if (found.length === 0) throw new HookError('outbound.dns', `${host} has no address`)
  return found
}

/** Answers the checked addresses whatever is asked, so that nothing is resolved a second time. */
function only(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, done) => {
    const [first] = found
    if (options.all || first === undefined) done(null, found)
    else done(null, first.address, first.family)
  }
}

function dialChecked({ lookup }: Checked, { ca }: ConnectorRules): Connector {
  return buildConnector({
    lookup,
    timeout: CONNECT_MS,
    allowH2: false,
    autoSelectFamily: true,
    maxCachedSessions: 0,
    ...(ca === undefined ? {} : { ca: [...ca] }),
  })
}

function wasChecked(socket: Socket, addresses: readonly string[]): boolean {
  const { remoteAddress } = socket
  // Gone again already: whoever uses the socket will see the error.
  return remoteAddress === undefined || addresses.includes(canonical(remoteAddress))
}

function refusal(host: string, what: string): HookError {
  return new HookError('outbound.private_address', `${host} ${what}`)
}

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
