import type { Edition } from '../../engine/core/edition.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Log } from '../../engine/core/sink.ts'
import { outboundAllowed } from '../environment.ts'
import { readConfigFile } from './config-file.ts'
import { createGatewayHome, gatewayHome } from './gateway-home.ts'
import { openGateway, type RunningGateway } from './open-gateway.ts'

interface UpOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Log
  readonly host?: string
  readonly port?: number
  readonly database?: string
  readonly edition?: Edition
}

export interface UpGateway extends RunningGateway {
  readonly home: string
  readonly tokenFile: string
}

/** Starts the gateway from config.yaml. The given options override the file. */
export async function upGateway(options: UpOptions): Promise<UpGateway> {
  const { env, log } = options
  const home = gatewayHome(env)
  createGatewayHome(home)
  const file = readConfigFile(home.config)
  const host = options.host ?? file.listen?.host ?? '127.0.0.1'
  const port = options.port ?? file.listen?.port ?? 4665
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw serverError('gateway.setting', 'port must be a whole number from 0 to 65535')
  const database = options.database ?? file.database ?? env.HOOKHELM_DATABASE
  const edition = options.edition ?? file.edition
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
    ...(file.socket === undefined ? {} : { socket: file.socket }),
    ...(database === undefined ? {} : { database }),
    ...(edition === undefined ? {} : { edition }),
  })
  if (!gateway.isTokenKnown) log('gateway.admin_token_unknown', { file: home.token })
  return { ...gateway, home: home.folder, tokenFile: home.token }
}
