import { jsonLog } from '../../app/gateway/json-log.ts'
import { type UpGateway, upGateway } from '../../app/gateway/up-gateway.ts'
import { errorText } from '../../engine/core/errors/error.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { command, exitCodes } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'

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
      ...definedFields({ host, database, edition, port: port === undefined ? port : Number(port) }),
    })
    const { url, socket, tokenFile, isTokenKnown } = gateway
    const login = gateway.loginLink()
    if (json) printOutput({ url, socket, tokenFile, isTokenKnown, login, pid: process.pid })
    else printOutput(describeStart(gateway, login))
    const signal = await untilStopped()
    log('gateway.stopping', { signal })
    await gateway.close().catch((thrown: unknown) => printMessage(errorText(thrown)))
    return exitCodes.ok
  },
})

type StartedGateway = Pick<UpGateway, 'url' | 'socket' | 'tokenFile' | 'isTokenKnown' | 'home'>

/** What a person needs after the start: the web app first, then what programs use, then what to do next. */
export function describeStart(gateway: StartedGateway, login: string): string {
  const { url, socket, tokenFile, isTokenKnown, home } = gateway
  const token = isTokenKnown
    ? 'the owner, for the command line and the API'
    : 'revoked: remove this file to get a new token at the next start'
  return [
    'Hookhelm is running.',
    '',
    `  Web app  ${login}`,
    '           (open it in a browser; it signs you in, once, within 10 minutes)',
    '',
    `  API      ${url}`,
    ...(socket === undefined ? [] : [`  Socket   ${socket}`]),
    `  Token    ${tokenFile}  (${token})`,
    `  Data     ${home}`,
    '',
    '  Next: hookhelm connect claude-code   guards a coding agent',
    '        hookhelm demo                  shows everything with scripted agents',
    '        Ctrl+C                         stops the gateway',
  ].join('\n')
}

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
