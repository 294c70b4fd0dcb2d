import { type ClientOptions, createClient } from '../../client/client.ts'
import { isRecord } from '../../engine/core/check.ts'
import type { Method } from '../../gateway/methods/method.ts'
import type { Methods } from '../../gateway/methods/table.ts'
import { command } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { print, tell } from '../output.ts'
import { connection } from './connection.ts'
import { readData } from './data.ts'
import { argsOf, flagsOf, paramsOf } from './flags.ts'
import { viewOf } from './views.ts'

const where = {
  url: { type: 'string', description: 'where the gateway is; HOOKHELM_URL otherwise' },
  'token-file': { type: 'string', description: 'file with a token; HOOKHELM_TOKEN otherwise' },
  tenant: { type: 'string', description: 'with a token of the master scope: the tenant to work for' },
  file: { type: 'string', description: 'parameters from a YAML or JSON file, - for stdin' },
  data: { type: 'string', description: 'parameters as YAML or JSON' },
} as const

const common = [...Object.keys(where), 'json', 'cwd']

/** Methods whose `--file` and `--data` are one of their parameters rather than all of them. */
const dataParam: Readonly<Record<string, string>> = {
  'hooks.update': 'updates',
  'hooks.test': 'config',
  'settings.set': 'settings',
}

/** The twin of a method on the command line. */
export function methodCommand(row: Method) {
  const flags = flagsOf(row).filter(({ name }) => !common.includes(name))
  return command({
    name: row.name.split('.').at(-1) ?? row.name,
    about: row.about,
    args: { ...argsOf(flags), ...where },
    async run(args) {
      const whole = readData(args)
      const under = dataParam[row.name]
      const params = {
        ...(under === undefined ? whole : Object.keys(whole).length > 0 ? { [under]: whole } : {}),
        ...paramsOf(flags, args),
      }
      const { url, tenant, json } = args
      const answer = await called(row, params, {
        ...connection({ url, tokenFile: args['token-file'] }),
        ...(tenant === undefined ? {} : { tenant }),
      })
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

function show(method: string, answer: unknown, json: boolean): void {
  print(json ? answer : viewOf(method, answer))
  const next = isRecord(answer) ? answer.nextCursor : undefined
  if (!json && typeof next === 'string' && next !== '') tell(`more: --cursor ${next}`)
}

/** A check that did not hold. */
function isBad(answer: unknown): boolean {
  return isRecord(answer) && answer.ok === false
}
