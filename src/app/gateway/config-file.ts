import { existsSync, readFileSync } from 'node:fs'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { type FileProblem, locateProblem, problemsError, syntaxProblem } from '../../config/file-problem.ts'
import { parseSource } from '../../config/read/read-hook-file.ts'
import { checkWithZod } from '../../config/schema/check-with-zod.ts'
import { wholeNumber } from '../../config/schema/zod-schema.ts'
import { errorText, HookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { settingsSchema } from '../../gateway/settings.ts'

const text = z.string().min(1, 'must not be empty')
const nameServer = text.refine(isNameServer, 'must be an IP address, with or without a port')

/** The schema of config.yaml. */
export const configFileSchema = z
  .strictObject({
    $schema: z.string().exactOptional(),
    listen: z
      .strictObject({
        host: text.describe('127.0.0.1 if omitted.').exactOptional(),
        port: wholeNumber(0, 65_535).describe('4665 if omitted; 0 takes any free port.').exactOptional(),
      })
      .exactOptional(),
    socket: z
      .union([text, z.literal(false)])
      .describe('Path of the unix socket, or false for none.')
      .exactOptional(),
    hosts: z.array(text).describe('Further Host headers that the gateway accepts.').exactOptional(),
    origins: z.array(text).describe('Origins of web pages that may call the gateway.').exactOptional(),
    database: text
      .describe('postgres://…; the embedded database in the data folder if omitted.')
      .exactOptional(),
    edition: z
      .enum(['lite', 'standard'])
      .describe('lite: one tenant, commands allowed. standard: several tenants.')
      .exactOptional(),
    outbound: z
      .strictObject({
        allow: z.array(text).describe('Private hosts that webhooks and models may call.').exactOptional(),
        dns: z
          .array(nameServer)
          .describe('Name servers to use instead of the system resolver.')
          .exactOptional(),
      })
      .exactOptional(),
    settings: settingsSchema.describe('Defaults for every tenant.').exactOptional(),
  })
  .readonly()

export type ConfigFile = z.infer<typeof configFileSchema>

/** Reads config.yaml. A missing file is empty; an invalid file throws an error that lists every problem with its line. */
export function readConfigFile(path: string): ConfigFile {
  if (!existsSync(path)) return {}
  const content = contentOf(path)
  if (isBlank(content)) return {}
  const source = parseSource(content, path)
  if (source instanceof HookError) throw problemsError([syntaxProblem(content, path, source)])
  const value = source.value ?? {}
  const parsed = configFileSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const [first, ...rest]: FileProblem[] = checkWithZod(configFileSchema, value).map((found) => {
    const problem = locateProblem(content, path, source, found)
    // The check is shared with hook files, but the hint must name the page of config.yaml.
    return { ...problem, hint: problem.hint.replace('docs/hook-files.md', 'docs/gateway.md') }
  })
  if (first === undefined) throw parsed.error
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
