import { promises as dns } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { buildConnector } from 'undici'
import type { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { Semaphore } from '../semaphore.ts'
import { loadUndici } from './load-undici.ts'
import { canonical, isOwn, type Listening } from './rules/address.ts'
import type { AllowList } from './rules/allow-list.ts'

/** The addresses that passed every check. Only they may be dialled. */
interface CheckedTarget {
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
/** Connects to a checked target. Tests that must not send packets replace it. */
export type Dial = (checked: CheckedTarget, rules: ConnectorRules) => Connector

const CONNECT_MS = 10_000

/** The only way out: resolves once, checks every address, and dials only checked addresses. */
export function createConnector(rules: ConnectorRules, dial: Dial = dialChecked): Connector {
  return (target, callback) => {
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    checkedAddresses(target.hostname, port, rules).then(
      (addresses) => {
        dial({ addresses, lookup: fixedLookup(addresses) }, rules)(target, (error, socket) => {
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

/** Resolves and checks. A single forbidden address refuses the host: an honest name server does not mix them. */
async function checkedAddresses(host: string, port: number, rules: ConnectorRules): Promise<string[]> {
  const found = isIP(host) ? [host] : await resolved(host, rules.resolve)
  const own = rules.own()
  return found.map((given) => {
    const address = isIP(given) ? canonical(given) : ''
    if (address === '') throw handlerError('outbound.dns', `${host} resolved to an invalid address`)
    if (isOwn(address, port, own)) throw refusal(host, 'is this gateway itself')
    if (!rules.allow({ host, address, port }))
      throw refusal(host, 'is or resolves to a private or special address')
    return address
  })
}

async function resolved(host: string, resolve: Resolve): Promise<readonly string[]> {
  let found: readonly string[]
  try {
    // The hosts file does not know names with a trailing dot.
    found = await resolve(host.replace(/^localhost\.$/i, 'localhost'))
  } catch (cause) {
    throw handlerError('outbound.dns', `${host} could not be resolved`, { cause })
  }
  if (found.length === 0) throw handlerError('outbound.dns', `${host} has no address`)
  return found
}

/** A lookup that returns the checked addresses, so that nothing is resolved a second time. */
function fixedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, options, done) => {
    const [first] = found
    if (options.all || first === undefined) done(null, found)
    else done(null, first.address, first.family)
  }
}

function dialChecked({ lookup }: CheckedTarget, { ca }: ConnectorRules): Connector {
  return loadUndici().buildConnector({
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
  // The socket is closed already; its user gets the error.
  return remoteAddress === undefined || addresses.includes(canonical(remoteAddress))
}

function refusal(host: string, what: string): HookError {
  return handlerError('outbound.private_address', `${host} ${what}`)
}

/** All addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>

/**
 * A lookup occupies one of the few threads that file access and ciphers share, and a slow name server decides for how long.
 */
const lookups = new Semaphore(2)

/** Resolves like the operating system, with hosts file and search domains. */
export const resolveWithSystem: Resolve = async (host) => {
  await lookups.take()
  try {
    const found = await dns.lookup(host, { all: true, order: 'verbatim' })
    return found.map(({ address }) => address)
  } finally {
    lookups.release()
  }
}

/** Queries name servers directly, without a thread, hosts file or search domains. */
export function resolveWithServers(servers: readonly string[]): Resolve {
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
