import { defineCommand, type SubCommandsDef } from 'citty'
import type { ClientOptions } from '../../client/client.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import { visibleJson } from '../../engine/core/values/visible-text.ts'
import { findMethod, type Methods, methods, type Subscriptions } from '../../gateway/methods.ts'
import type { Method, SubscriptionMethod } from '../../methods/method.ts'
import { command, type ExitCode, exitCodes } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'
import { clientOptions, connectionArgs, withGateway } from './connection.ts'
import { readData } from './data.ts'
import { argsOf, flagsOf, paramsOf } from './flags.ts'
import { formatAnswer, formatItem } from './format-answer.ts'

const requestArgs = {
  ...connectionArgs,
  file: { type: 'string', description: 'parameters from a YAML or JSON file, - for stdin' },
  data: { type: 'string', description: 'parameters as YAML or JSON' },
} as const

const followFlag = {
  follow: { type: 'boolean', description: 'keep printing new items until interrupted' },
} as const

const reservedNames = [...Object.keys(requestArgs), 'json', 'cwd']

/** Methods whose `--file` and `--data` give one parameter instead of all. */
const dataParam: Readonly<Record<string, string>> = {
  'hooks.update': 'updates',
  'hooks.test': 'config',
  'settings.set': 'settings',
  'runHooks.create': 'definition',
  'runHooks.update': 'definition',
}

/** Methods of one noun as subcommands, `hookhelm hooks get`, `hookhelm hooks create`, …, and those of the command line. */
export function nounCommand(noun: string, verbs?: readonly string[], own: SubCommandsDef = {}) {
  const rows = methods.flatMap((row) => {
    const [, verb = ''] = row.name.startsWith(`${noun}.`) ? row.name.split('.') : []
    return verb !== '' && verbs?.includes(verb) !== false ? [[verb, methodCommand(row)] as const] : []
  })
  return defineCommand({ subCommands: { ...Object.fromEntries(rows), ...own } })
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
    args: { ...argsOf(flags), ...requestArgs, ...(row.kind === 'subscription' ? followFlag : {}) },
    async run(args) {
      const data = readData(args)
      const param = dataParam[row.name]
      const params = {
        ...(param === undefined ? data : Object.keys(data).length > 0 ? { [param]: data } : {}),
        ...paramsOf(flags, args),
      }
      const { json } = args
      const options = clientOptions(args)
      if (row.kind === 'subscription' && 'follow' in args && args.follow === true)
        return printItems(row, params, { options, json: json === true })
      // The gateway checks the parameters and reports what is wrong with them.
      const answer = await withGateway(options, (client) =>
        client.call(row.name as keyof Methods, params as never),
      )
      printAnswer(row.name, answer, json === true)
      return isFailedCheck(answer) ? exitCodes.failed : exitCodes.ok
    },
  })
  return { ...called, meta: { name: row.name.split('.').at(-1) ?? row.name, description: row.about } }
}

/** Prints items until the process is interrupted; with `--json`, one object per line. */
async function printItems(
  row: SubscriptionMethod,
  params: Record<string, unknown>,
  { options, json }: { readonly options: ClientOptions; readonly json: boolean },
): Promise<ExitCode> {
  const interrupted = new AbortController()
  const stop = () => interrupted.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    await withGateway(options, async (client) => {
      const items = client.subscribe(row.name as keyof Subscriptions, params, { signal: interrupted.signal })
      for await (const { item } of items) printOutput(json ? visibleJson(item) : formatItem(row.name, item))
    })
    return exitCodes.ok
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
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
