import { existsSync, readFileSync } from 'node:fs'
import ipaddr from 'ipaddr.js'
import { errorText, HookError } from '../../../engine/core/errors/error.ts'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { checked, nonEmpty, withAbout } from '../../../engine/core/schema/more-schemas.ts'
import { readSchema, type SchemaType, schema } from '../../../engine/core/schema/schema.ts'
import {
  type FileProblem,
  locateProblem,
  problemsError,
  syntaxProblem,
} from '../../../hook-files/file-problem.ts'
import { parseSource } from '../../../hook-files/read/read-hook-file.ts'
import { fromSchemaProblem } from '../../../hook-files/read/value-problem.ts'
import { settingsSchema } from '../../../settings/settings.ts'

const text = nonEmpty()
const nameServer = checked(text, (given, name) =>
  isNameServer(given) ? undefined : `${name} must be an IP address, with or without a port`,
)

/** The schema of config.yaml. */
export const configFileSchema = schema.object(
  schema.partial({
    $schema: schema.text(),
    listen: schema.object(
      schema.partial({
        host: withAbout(text, '127.0.0.1 if omitted.'),
        port: schema.integer(0, 65_535, '4665 if omitted; 0 takes any free port.'),
      }),
    ),
    socket: schema.union(
      [text, schema.choice([false])],
      'a path, or false',
      'Path of the unix socket, or false for none.',
    ),
    hosts: schema.list(text, 'Further Host headers that the gateway accepts.'),
    origins: schema.list(text, 'Origins of web pages that may call the gateway.'),
    database: withAbout(text, 'postgres://…; the embedded database in the data folder if omitted.'),
    edition: schema.choice(
      ['lite', 'standard'],
      'lite: one tenant, commands allowed. standard: several tenants.',
    ),
    outbound: schema.object(
      schema.partial({
        allow: schema.list(text, 'Private hosts that webhooks and models may call.'),
        dns: schema.list(nameServer, 'Name servers to use instead of the system resolver.'),
      }),
    ),
    settings: withAbout(settingsSchema, 'Defaults for every tenant.'),
  }),
)

export type ConfigFile = SchemaType<typeof configFileSchema>

/** Reads config.yaml. A missing file is empty; an invalid file throws an error that lists every problem with its line. */
export function readConfigFile(path: string): ConfigFile {
  if (!existsSync(path)) return {}
  const content = contentOf(path)
  if (isBlank(content)) return {}
  const source = parseSource(content, path)
  if (source instanceof HookError) throw problemsError([syntaxProblem(content, path, source)])
  const { value, problems } = readSchema(configFileSchema, source.value ?? {})
  const [first, ...rest]: FileProblem[] = problems.map((found) => {
    const problem = locateProblem(content, path, source, fromSchemaProblem(found))
    // The check is shared with hook files, but the hint must name the page of config.yaml.
    return { ...problem, hint: problem.hint.replace('docs/hook-files.md', 'docs/gateway.md') }
  })
  if (first === undefined) return value
  throw problemsError([first, ...rest])
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    throw serverError('gateway.setting', `${path} cannot be read: ${errorText(thrown)}`, {
      hint: 'Make it a readable file, or remove it to use the defaults.',
      cause: thrown,
    })
  }
}

/** Whether the text has only blank lines and comments. */
function isBlank(content: string): boolean {
  return content.split('\n').every((line) => /^\s*(?:#.*)?$/.test(line))
}

/** The forms that the resolver accepts: `1.2.3.4`, `1.2.3.4:53`, `::1`, `[::1]`, `[::1]:53`. */
function isNameServer(given: string): boolean {
  const { bracketed, plain } =
    /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[\d.]+))(?::\d{1,5})?$/.exec(given)?.groups ?? {}
  return ipaddr.IPv4.isValidFourPartDecimal(plain ?? '') || ipaddr.IPv6.isValid(bracketed ?? given)
}
