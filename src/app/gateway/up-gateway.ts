import { hostname } from 'node:os'
import { createClient } from '../../client/client.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { type Edition, runsCommands } from '../../engine/core/values/edition.ts'
import { startFolders } from '../../runs/runner/run-folder.ts'
import { Runner } from '../../runs/runner/runner.ts'
import { outboundAllowed } from '../environment.ts'
import { runnerGateway } from '../runner-gateway.ts'
import { createRunnerMeans } from '../runner-means.ts'
import { openGateway, type RunningGateway } from './open-gateway.ts'
import { readConfigFile } from './storage/config-file.ts'
import { createGatewayHome, gatewayHome } from './storage/gateway-home.ts'

interface UpOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly log: Log
  readonly host?: string
  readonly port?: number
  readonly database?: string
  readonly edition?: Edition
  /** Whether the lite edition starts a runner of its own; true if omitted. */
  readonly runner?: boolean
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
    cwd: process.cwd(),
    listen: { host, port },
    hosts: file.hosts ?? [],
    origins: file.origins ?? [],
    outbound: {
      allow: [...outboundAllowed(env), ...(file.outbound?.allow ?? [])],
      ...(file.outbound?.dns === undefined ? {} : { dns: file.outbound.dns }),
    },
    settings: file.settings ?? {},
    ...definedFields({ socket: file.socket, database, edition }),
  })
  if (!gateway.isTokenKnown) log('gateway.admin_token_unknown', { file: home.token })
  const up = { ...gateway, home: home.folder, tokenFile: home.token }
  // Commands of blueprints run as the user of the gateway, which is right on one's own machine only.
  if (!runsCommands(edition ?? 'lite') || options.runner === false || !gateway.isTokenKnown) return up
  const runner = startLocalRunner(gateway, { env, log })
  return {
    ...up,
    async close() {
      await runner.stop()
      await gateway.close()
    },
  }
}

const CONCURRENCY = 4

/** The runner of `hookhelm up`. It speaks to its gateway like any other runner. */
function startLocalRunner(
  { url, token, defaultTenant, models, runFolders }: RunningGateway,
  { env, log }: Pick<UpOptions, 'env' | 'log'>,
): { stop(): Promise<void> } {
  const client = createClient({ url, token })
  const cwd = process.cwd()
  const own = startFolders(cwd, env.HOME)
  const { means, dispose } = createRunnerMeans({
    ...{ env, client, log, cwd, folders: () => runFolders() ?? own },
    // Its runs use the providers that people configured in the gateway.
    models: { find: (name) => models.find(name, defaultTenant) },
  })
  const runner = new Runner({
    gateway: runnerGateway(client),
    offer: {
      ...{ hostname: hostname(), project_dir: '', executor_profile: '', executor_type: 'command' },
      ...{ tags: [], require_matching_tags: false },
    },
    ...means,
    concurrency: CONCURRENCY,
  })
  runner.ended.catch((thrown) => log('runner.failed', { error: errorText(thrown) }))
  return {
    async stop() {
      await runner.stop()
      await dispose()
      await client.close()
    },
  }
}
