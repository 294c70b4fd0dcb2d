import { jsonLog } from '../app/gateway/json-log.ts'
import { upGateway } from '../app/gateway/up-gateway.ts'
import { systemClock } from '../engine/core/clock.ts'
import { errorText } from '../engine/core/error.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'

export const upCommand = command({
  name: 'up',
  about: 'Start the gateway: dispatch over HTTP, WebSocket and a local socket, with a database of its own',
  args: {
    host: { type: 'string', description: 'address to listen on (127.0.0.1)' },
    port: { type: 'string', description: 'port to listen on (4665); 0 takes any that is free' },
    database: { type: 'string', description: 'postgres://… instead of the embedded database' },
    edition: { type: 'enum', options: ['lite', 'standard'], description: 'standard serves several tenants' },
    quiet: { type: 'boolean', description: 'no log' },
  },
  async run({ host, port, database, edition, quiet, json }) {
    const log = quiet ? () => {} : jsonLog(tell, systemClock)
    const gateway = await upGateway({
      env: process.env,
      log,
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port: Number(port) }),
      ...(database === undefined ? {} : { database }),
      ...(edition === undefined ? {} : { edition }),
    })
    const { url, socket, tokenFile, isTokenKnown, home } = gateway
    const login = gateway.loginLink()
    if (json) print({ url, socket, tokenFile, isTokenKnown, login, pid: process.pid })
    else
      print(
        [
          `hookhelm listens on ${url}${socket === undefined ? '' : ` and ${socket}`}`,
          `  open   ${login}  (works once, for ten minutes)`,
          `  token  ${tokenFile}${isTokenKnown ? '' : '  (no longer opens the door; without the file the next start makes a new one)'}`,
          `  data   ${home}`,
        ].join('\n'),
      )
    const signal = await ended()
    log('gateway.stopping', { signal })
    await gateway.close().catch((thrown: unknown) => tell(errorText(thrown)))
    return exitCodes.ok
  },
})

/** A second signal means now. */
function ended(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        process.once(signal, () => process.exit(exitCodes.failed))
        resolve(signal)
      })
  })
}
