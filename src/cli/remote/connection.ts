import { resolve } from 'node:path'
import { gatewayHome, readPrivateFile, readPublishedAddress } from '../../app/gateway/storage/gateway-home.ts'
import { type Client, type ClientOptions, createClient } from '../../client/client.ts'
import { isHookError } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Flags } from '../command.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The flags of every command that talks to a gateway. */
export const connectionArgs = {
  url: { type: 'string', description: 'address of the gateway (default: HOOKHELM_URL)' },
  'token-file': { type: 'string', description: 'file with a token (default: HOOKHELM_TOKEN)' },
  tenant: { type: 'string', description: 'act for this tenant, by name or id; needs a master token' },
} as const

export type ConnectionArgs = Flags<'url' | 'token-file' | 'tenant'>

const DEFAULT_URL = 'http://127.0.0.1:4665'

/** Address and token of the gateway: from the flags, else from the environment, else of the gateway on this machine. */
export function connection({ url, tokenFile }: Flags<'url' | 'tokenFile'>, env: Environment = process.env) {
  const address = url ?? env.HOOKHELM_URL ?? localAddress(env)
  const own = gatewayHome(env).token
  const isOwn = tokenFile === undefined ? !env.HOOKHELM_TOKEN : resolve(tokenFile) === own
  const token = tokenOf(tokenFile, address, env)
  return { url: address, token, ...(isOwn && address.startsWith('http:') ? { proven: true } : {}) }
}

/** What the flags and the environment say about the gateway. */
export function clientOptions({ url, tenant, 'token-file': tokenFile }: ConnectionArgs): ClientOptions {
  return { ...connection({ url, tokenFile }), ...(tenant === undefined ? {} : { tenant }) }
}

/** Opens a client for `use`, and closes it afterwards. */
export async function withGateway<T>(
  options: ClientOptions,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = createClient(options)
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

/** Whether an error means that no gateway runs, and not that a gateway refused the call. */
export function isNoGateway(error: unknown): boolean {
  return isHookError(error) && (error.code === 'gateway.unreachable' || error.message === NEVER_STARTED)
}

const NEVER_STARTED = 'no gateway has been started here yet'

/** Whether files of this machine are files of that gateway too. */
export function isThisMachine(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(URL.parse(url)?.hostname ?? '')
}

function localAddress(env: Environment): string {
  const told = readPublishedAddress(gatewayHome(env).address)
  return told !== undefined && isThisMachine(told) ? told : DEFAULT_URL
}

function tokenOf(file: string | undefined, url: string, env: Environment): string {
  if (file !== undefined) return readToken(file) ?? missing(`there is no file ${file}`)
  if (env.HOOKHELM_TOKEN) return env.HOOKHELM_TOKEN
  // The local token grants everything here, so it is never sent to another machine.
  if (!isThisMachine(url)) return missing(`no token for ${url}`)
  return readToken(gatewayHome(env).token) ?? missing(NEVER_STARTED)
}

function readToken(path: string): string | undefined {
  return readPrivateFile(path)?.trim()
}

function missing(why: string): never {
  throw serverError('auth.token', why, {
    hint: 'Start one with `hookhelm up`, or give the token with HOOKHELM_TOKEN or --token-file.',
  })
}
