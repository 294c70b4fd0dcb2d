import { type ClientOptions, createClient } from '../../client/client.ts'
import { isRecord } from '../../engine/core/check.ts'
import type { Method, SubscriptionMethod } from '../../gateway/methods/method.ts'
import type { Methods, Subscriptions } from '../../gateway/methods/table.ts'
import { command } from '../command.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { print, tell } from '../output.ts'
import { connection } from './connection.ts'
import { readData } from './data.ts'
import { argsOf, flagsOf, paramsOf } from './flags.ts'
import { itemView, viewOf } from './views.ts'

const where = {
  url: { type: 'string', description: 'where the gateway is; HOOKHELM_URL otherwise' },
  'token-file': { type: 'string', description: 'file with a token; HOOKHELM_TOKEN otherwise' },
  tenant: { type: 'string', description: 'with a token of the master scope: the tenant to work for' },
  file: { type: 'string', description: 'parameters from a YAML or JSON file, - for stdin' },
  data: { type: 'string', description: 'parameters as YAML or JSON' },
} as const

const followFlag = {
  follow: { type: 'boolean', description: 'keep printing new items until interrupted' },
} as const

const common = [...Object.keys(where), 'json', 'cwd']

/** Methods whose `--file` and `--data` are one of their parameters rather than all of them. */
const dataParam: Readonly<Record<string, string>> = {
  'hooks.update': 'updates',
  'hooks.test': 'config',
  'settings.set': 'settings',
}

/** The command of a method. */
export function methodCommand(row: Method) {
  const flags = flagsOf(row).filter(({ name }) => !common.includes(name))
  return command({
    name: row.name.split('.').at(-1) ?? row.name,
    about: row.about,
    args: { ...argsOf(flags), ...where, ...(row.kind === 'subscription' ? followFlag : {}) },
    async run(args) {
      const whole = readData(args)
      const under = dataParam[row.name]
      const params = {
        ...(under === undefined ? whole : Object.keys(whole).length > 0 ? { [under]: whole } : {}),
        ...paramsOf(flags, args),
      }
      const { url, tenant, json } = args
      const options = {
        ...connection({ url, tokenFile: args['token-file'] }),
        ...(tenant === undefined ? {} : { tenant }),
      }
      if (row.kind === 'subscription' && 'follow' in args && args.follow === true)
        return follow(row, params, { options, json: json === true })
      const answer = await called(row, params, options)
      show(row.name, answer, json === true)
      return isBad(answer) ? exitCodes.failed : exitCodes.ok
    },
  })
}

async function called(row: Method, params: unknown, options: ClientOptions): Promise<unknown> {
  const client = createClient(options)
  try {
    // The gateway checks the parameters and says what is wrong with them.
    return await client.call(row.name as keyof Methods, params as never)
  } finally {
    await client.close()
  }
}

/** Prints items until the process is interrupted; with `--json`, one object per line. */
async function follow(
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
    for await (const { item } of items) print(json ? JSON.stringify(item) : itemView(row.name, item))
    return exitCodes.ok
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    await client.close()
  }
}

function show(method: string, answer: unknown, json: boolean): void {
  print(json ? answer : viewOf(method, answer))
  const next = isRecord(answer) ? answer.nextCursor : undefined
  if (!json && typeof next === 'string' && next !== '') tell(`more: --cursor ${next}`)
}

/** A check that did not hold. */
function isBad(answer: unknown): boolean {
  return isRecord(answer) && answer.ok === false
}
