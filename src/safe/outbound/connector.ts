import { isIP, type LookupFunction, type Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { HookError } from '../../engine/core/error.ts'
import { loadUndici } from './load-undici.ts'
import type { Resolve } from './resolve.ts'
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
  // Gone again already: whoever uses the socket will see the error.
  return remoteAddress === undefined || addresses.includes(canonical(remoteAddress))
}

function refusal(host: string, what: string): HookError {
  return new HookError('outbound.private_address', `${host} ${what}`)
}
