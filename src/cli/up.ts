import { jsonLog } from '../app/gateway/json-log.ts'
import { upGateway } from '../app/gateway/up-gateway.ts'
import { systemClock } from '../engine/core/clock.ts'
import { errorText } from '../engine/core/error.ts'
import { command, exitCodes } from './command.ts'
import { printMessage, printOutput } from './output.ts'

export const upCommand = command({
  args: {
    host: { type: 'string', description: 'address to listen on (127.0.0.1)' },
    port: { type: 'string', description: 'port to listen on (4665); 0 takes any free port' },
    database: { type: 'string', description: 'postgres://… instead of the embedded database' },
    edition: { type: 'enum', options: ['lite', 'standard'], description: 'standard serves several tenants' },
    runner: {
      type: 'boolean',
      default: true,
      description: 'run agents here too; --no-runner leaves it to others',
    },
    quiet: { type: 'boolean', description: 'no log' },
  },
  async run({ host, port, database, edition, runner, quiet, json }) {
    const log = quiet ? () => {} : jsonLog(printMessage, systemClock)
    const gateway = await upGateway({
      env: process.env,
      log,
      runner,
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
          `Hookhelm is running at ${url}`,
          `  login   ${login}  (one-time link, valid for 10 minutes)`,
          ...(socket === undefined ? [] : [`  socket  ${socket}`]),
          `  token   ${tokenFile}${isTokenKnown ? '' : '  (revoked: remove this file to get a new token at the next start)'}`,
          `  data    ${home}`,
        ].join('\n'),
      )
    const signal = await untilStopped()
    log('gateway.stopping', { signal })
    await gateway.close().catch((thrown: unknown) => printMessage(errorText(thrown)))
    return exitCodes.ok
  },
})

/** Resolves with the first signal. A second signal ends the process at once. */
export function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        process.once(signal, () => process.exit(exitCodes.failed))
        resolve(signal)
      })
  })
}
