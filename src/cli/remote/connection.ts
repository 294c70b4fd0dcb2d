import { gatewayHome, readPrivateFile, readPublishedAddress } from '../../app/gateway/gateway-home.ts'
import { serverError } from '../../engine/core/server-errors.ts'

export interface Where {
  readonly url?: string | undefined
  readonly tokenFile?: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_URL = 'http://127.0.0.1:4665'

/** Address and token of the gateway: from the flags, else from the environment, else of the gateway on this machine. */
export function connection({ url, tokenFile }: Where, env: Environment = process.env) {
  const address = url ?? env.HOOKHELM_URL ?? localAddress(env)
  return { url: address, token: tokenOf(tokenFile, address, env) }
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
  return readToken(gatewayHome(env).token) ?? missing('no gateway has been started here yet')
}

function readToken(path: string): string | undefined {
  return readPrivateFile(path)?.trim()
}

function isThisMachine(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(URL.parse(url)?.hostname ?? '')
}

function missing(why: string): never {
  throw serverError('auth.token', why, {
    hint: 'Start one with `hookhelm up`, or give the token with HOOKHELM_TOKEN or --token-file.',
  })
}
