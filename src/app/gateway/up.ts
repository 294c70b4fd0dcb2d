import type { Edition } from '../../engine/core/edition.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import { hashToken } from '../../safe/token.ts'
import type { Store } from '../../store/store.ts'
import { outboundAllowed } from '../environment.ts'
import { readConfigFile } from './config-file.ts'
import { homeOf, makeHome } from './home.ts'
import { type Gateway, openGateway } from './open.ts'

interface UpOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Log
  readonly host?: string
  readonly port?: number
  readonly database?: string
  readonly edition?: Edition
}

export interface UpGateway extends Gateway {
  readonly home: string
  readonly tokenFile: string
  /** Whether the token in the file opens the door: an owner may have revoked it. */
  readonly isTokenKnown: boolean
}

/** Starts the gateway as config.yaml says; what is given here comes before it. */
export async function upGateway(options: UpOptions): Promise<UpGateway> {
  const { env, log } = options
  const home = homeOf(env)
  makeHome(home)
  const file = readConfigFile(home.config)
  const host = options.host ?? file.listen?.host ?? '127.0.0.1'
  const port = options.port ?? file.listen?.port ?? 4665
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw serverError('gateway.setting', 'port must be a whole number from 0 to 65535')
  const database = options.database ?? file.database ?? env.HOOKHELM_DATABASE
  const edition = options.edition ?? file.edition
  let store: Store | undefined
  const gateway = await openGateway({
    env,
    log,
    listen: { host, port },
    hosts: file.hosts ?? [],
    origins: file.origins ?? [],
    outbound: {
      allow: [...outboundAllowed(env), ...(file.outbound?.allow ?? [])],
      ...(file.outbound?.dns === undefined ? {} : { dns: file.outbound.dns }),
    },
    settings: file.settings ?? {},
    aroundStore(opened) {
      store = opened
      return opened
    },
    ...(file.socket === undefined ? {} : { socket: file.socket }),
    ...(database === undefined ? {} : { database }),
    ...(edition === undefined ? {} : { edition }),
  })
  const isTokenKnown = (await store?.findToken(hashToken(gateway.token))) !== undefined
  if (!isTokenKnown) log('gateway.admin_token_unknown', { file: home.token })
  return { ...gateway, home: home.folder, tokenFile: home.token, isTokenKnown }
}
