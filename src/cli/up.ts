import { jsonLog } from '../app/gateway/json-log.ts'
import { upGateway } from '../app/gateway/up.ts'
import { systemClock } from '../engine/core/clock.ts'
import { errorText } from '../engine/core/error.ts'
import { command, exitCodes } from './command.ts'
import { printMessage, printOutput } from './output.ts'

export const upCommand = command({
  args: {
    host: { type: 'string', description: 'address to listen on (127.0.0.1)' },
    port: { type: 'string', description: 'port to listen on (4665); 0 picks a free port' },
    database: { type: 'string', description: 'postgres://… to use instead of the embedded database' },
    edition: { type: 'enum', options: ['lite', 'standard'], description: 'standard serves several tenants' },
    quiet: { type: 'boolean', description: 'do not log to stderr' },
  },
  async run({ host, port, database, edition, quiet, json }) {
    const log = quiet ? () => {} : jsonLog(printMessage, systemClock)
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
    if (json) printOutput({ url, socket, tokenFile, isTokenKnown, login, pid: process.pid })
    else
      printOutput(
        [
          `hookhelm listens on ${url}${socket === undefined ? '' : ` and ${socket}`}`,
          `  open   ${login}  (valid once, for ten minutes)`,
          `  token  ${tokenFile}${isTokenKnown ? '' : '  (no longer valid; delete the file and restart to create a new one)'}`,
          `  data   ${home}`,
        ].join('\n'),
      )
    const signal = await untilStopped()
    log('gateway.stopping', { signal })
    await gateway.close().catch((thrown: unknown) => printMessage(errorText(thrown)))
    return exitCodes.ok
  },
})

/** Resolves with the first signal. A second signal ends the process at once. */
function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        process.once(signal, () => process.exit(exitCodes.failed))
        resolve(signal)
      })
  })
}
