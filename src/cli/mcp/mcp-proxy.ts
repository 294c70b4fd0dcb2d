import { constants } from 'node:os'
import { resolve } from 'node:path'
import { HookError } from '../../engine/core/errors/error.ts'
import { systemClock } from '../../engine/core/time/clock.ts'
import { openToolPins } from '../../hook-files/tool-pins.ts'
import type { McpSessionOptions } from '../../mcp/mcp-session.ts'
import { ServerName } from '../../mcp/server-name.ts'
import { runStdioProxy } from '../../mcp/stdio-proxy.ts'
import { command, type ExitCode, exitCodes } from '../command.ts'
import { printMessage } from '../output.ts'
import { DECISION_TIMEOUT_MS, MCP_WAIT_MS, openDecider } from './mcp-decider.ts'

export const mcpProxyCommand = command({
  args: {
    name: { type: 'string', description: 'the server’s name in mcp__<name>__<tool> (its own)' },
    agent: { type: 'string', description: 'who calls (the client’s own name)' },
    listen: { type: 'string', description: 'serve HTTP here, as 127.0.0.1:8808, instead of stdio' },
    to: { type: 'string', description: 'address of the MCP server, with --listen' },
    local: { type: 'boolean', description: 'use the hook files of the directory instead of a gateway' },
    socket: { type: 'string', description: 'socket of the gateway (the one on this machine)' },
    url: { type: 'string', description: 'address of the gateway, instead of its socket' },
    'token-file': { type: 'string', description: 'file with a token for --url' },
    within: { type: 'string', description: `how long hooks may take, in ms (${DECISION_TIMEOUT_MS})` },
    wait: {
      type: 'string',
      description: `how long a call waits for a person, in ms, if its client cannot ask (${MCP_WAIT_MS})`,
    },
    'changed-tools': {
      type: 'string',
      description: 'warn or block: calls of a tool whose definition changed since it was accepted (warn)',
    },
    'fail-open': { type: 'boolean', description: 'allow calls when no decision can be made' },
  },
  manyWords: true,
  async run(args, argv) {
    const cwd = resolve(args.cwd ?? '.')
    const { listen, to, name, agent } = args
    const isHttp = listen !== undefined || to !== undefined
    if (isHttp === argv.length > 0) throw usage('give either -- <command> or --listen and --to')
    const onChange = readOnChange(args['changed-tools'])
    const failOpen = args['fail-open'] === true
    if (failOpen) say('--fail-open: calls are allowed when no decision can be made')
    const decider = await openDecider({ ...args, cwd, tokenFile: args['token-file'] }, say)
    const options: McpSessionOptions = {
      decider,
      failOpen,
      clock: systemClock,
      warn: say,
      cwd,
      server: new ServerName(name),
      toolPins: {
        pins: openToolPins(isHttp ? (to ?? '') : JSON.stringify(argv), name),
        onChange,
      },
      ...(agent === undefined ? {} : { agent }),
    }
    try {
      return isHttp ? await serveHttp(options, listen, to) : await runStdio(options, argv, cwd)
    } finally {
      await decider.close()
    }
  },
})

function readOnChange(given = 'warn'): 'warn' | 'block' {
  if (given === 'warn' || given === 'block') return given
  throw usage('--changed-tools takes warn or block')
}

/** Starts the MCP server and proxies its stdin and stdout. */
async function runStdio(options: McpSessionOptions, argv: readonly string[], cwd: string): Promise<ExitCode> {
  const signal = untilSignal()
  const end = await runStdioProxy({
    ...options,
    argv,
    cwd,
    env: environment(),
    clientIn: process.stdin,
    clientOut: process.stdout,
    signal,
  })
  if (end.refused !== undefined) say(`${argv[0]} could not be started: ${end.refused}`)
  // The proxy exits with the exit code of the server.
  const killedBy: NodeJS.Signals | undefined = signal.reason
  const code = killedBy === undefined ? end.exitCode : 128 + constants.signals[killedBy]
  process.once('exit', () => {
    process.exitCode = code
  })
  // Stdin may stay open, which would keep the process running.
  process.stdin.destroy()
  return code === 0 ? exitCodes.ok : exitCodes.failed
}

async function serveHttp(
  options: McpSessionOptions,
  listen: string | undefined,
  to: string | undefined,
): Promise<ExitCode> {
  const [, host, port] = /^\[?([^\]]*)\]?:(\d{1,5})$/.exec(listen ?? '') ?? []
  if (host === undefined || to === undefined)
    throw usage('--listen takes 127.0.0.1:8808, --to the address of a server')
  const signal = untilSignal()
  const { openHttpProxy } = await import('../../mcp/http/http-proxy.ts')
  const proxy = await openHttpProxy({ ...options, to, listen: { host, port: Number(port) } })
  say(`listens on ${proxy.url}`)
  await new Promise((ended) => signal.addEventListener('abort', ended))
  await proxy.close()
  return exitCodes.ok
}

/** The server gets the client's environment without Hookhelm's own tokens and addresses. */
function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('HOOKHELM_') ? [] : [[name, value]],
    ),
  )
}

/** Aborts with the first signal, which is the reason. A second signal ends the process at once. */
function untilSignal(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(name, () => {
      process.once(name, () => process.exit(exitCodes.failed))
      controller.abort(name)
    })
  return controller.signal
}

/** Stdout belongs to the protocol. */
function say(line: string): void {
  printMessage(`hookhelm: ${line}`)
}

function usage(what: string): HookError {
  return new HookError('config.field', what, { hint: 'hookhelm mcp-proxy --help shows how.' })
}
