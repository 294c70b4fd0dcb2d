import { defineCommand } from 'citty'
import { type ClientOptions, createClient } from '../../client/client.ts'
import { isRecord } from '../../engine/core/check.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import type { Method, SubscriptionMethod } from '../../gateway/methods/method.ts'
import { findMethod, type Methods, methods, type Subscriptions } from '../../gateway/methods/table.ts'
import { command, type ExitCode, exitCodes } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'
import { connection } from './connection.ts'
import { readData } from './data.ts'
import { argsOf, flagsOf, paramsOf } from './flags.ts'
import { formatAnswer, formatItem } from './format-answer.ts'

const connectionArgs = {
  url: { type: 'string', description: 'address of the gateway (default: HOOKHELM_URL)' },
  'token-file': { type: 'string', description: 'file with a token (default: HOOKHELM_TOKEN)' },
  tenant: { type: 'string', description: 'act for this tenant; needs a master token' },
  file: { type: 'string', description: 'parameters from a YAML or JSON file, - for stdin' },
  data: { type: 'string', description: 'parameters as YAML or JSON' },
} as const

const followFlag = {
  follow: { type: 'boolean', description: 'keep printing new items until interrupted' },
} as const

const reservedNames = [...Object.keys(connectionArgs), 'json', 'cwd']

/** Methods whose `--file` and `--data` give one parameter instead of all. */
const dataParam: Readonly<Record<string, string>> = {
  'hooks.update': 'updates',
  'hooks.test': 'config',
  'settings.set': 'settings',
}

/** The methods of one noun as subcommands: `hookhelm hooks list`, `hookhelm hooks create`, … */
export function nounCommand(noun: string) {
  const rows = methods.filter(({ name }) => name.startsWith(`${noun}.`))
  return defineCommand({
    subCommands: Object.fromEntries(rows.map((row) => [row.name.slice(noun.length + 1), methodCommand(row)])),
  })
}

/** A method without a noun, such as `hookhelm status`. */
export function singleCommand(name: string) {
  const row = findMethod(name)
  if (row === undefined) throw serverError('gateway.request', `unknown method ${name}`)
  return methodCommand(row)
}

/** Calls one method of the gateway. */
function methodCommand(row: Method) {
  const flags = flagsOf(row).filter(({ name }) => !reservedNames.includes(name))
  const called = command({
    args: { ...argsOf(flags), ...connectionArgs, ...(row.kind === 'subscription' ? followFlag : {}) },
    async run(args) {
      const data = readData(args)
      const param = dataParam[row.name]
      const params = {
        ...(param === undefined ? data : Object.keys(data).length > 0 ? { [param]: data } : {}),
        ...paramsOf(flags, args),
      }
      const { url, tenant, json } = args
      const options = {
        ...connection({ url, tokenFile: args['token-file'] }),
        ...(tenant === undefined ? {} : { tenant }),
      }
      if (row.kind === 'subscription' && 'follow' in args && args.follow === true)
        return printItems(row, params, { options, json: json === true })
      const answer = await callMethod(row, params, options)
      printAnswer(row.name, answer, json === true)
      return isFailedCheck(answer) ? exitCodes.failed : exitCodes.ok
    },
  })
  return { ...called, meta: { name: row.name.split('.').at(-1) ?? row.name, description: row.about } }
}

async function callMethod(row: Method, params: unknown, options: ClientOptions): Promise<unknown> {
  const client = createClient(options)
  try {
    // The gateway checks the parameters and reports what is wrong with them.
    return await client.call(row.name as keyof Methods, params as never)
  } finally {
    await client.close()
  }
}

/** Prints items until the process is interrupted; with `--json`, one object per line. */
async function printItems(
  row: SubscriptionMethod,
  params: Record<string, unknown>,
  { options, json }: { readonly options: ClientOptions; readonly json: boolean },
): Promise<ExitCode> {
  const client = createClient(options)
  const interrupted = new AbortController()
  const stop = () => interrupted.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    const items = client.subscribe(row.name as keyof Subscriptions, params, { signal: interrupted.signal })
    for await (const { item } of items) printOutput(json ? JSON.stringify(item) : formatItem(row.name, item))
    return exitCodes.ok
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    await client.close()
  }
}

function printAnswer(method: string, answer: unknown, json: boolean): void {
  printOutput(json ? answer : formatAnswer(method, answer))
  const next = isRecord(answer) ? answer.nextCursor : undefined
  if (!json && typeof next === 'string' && next !== '') printMessage(`next page: --cursor ${next}`)
}

/** `audit.verify` and other checks answer `ok: false`. */
function isFailedCheck(answer: unknown): boolean {
  return isRecord(answer) && answer.ok === false
}
