import { existsSync, readFileSync } from 'node:fs'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { type FileProblem, locateProblem, problemsError, syntaxProblem } from '../../config/file-problem.ts'
import { parseSource } from '../../config/read/read-hook-file.ts'
import { checkWithZod } from '../../config/read/value-problem.ts'
import { wholeNumber } from '../../config/schema/zod-schema.ts'
import { errorText, HookError } from '../../engine/core/error.ts'
import { serverError } from '../../engine/core/server-errors.ts'
import { settingsSchema } from '../../gateway/settings.ts'

const text = z.string().min(1, 'must not be empty')
const nameServer = text.refine(isNameServer, 'must be an IP address, with or without a port')

/** What stands in config.yaml. */
export const configFileSchema = z
  .strictObject({
    $schema: z.string().exactOptional(),
    listen: z
      .strictObject({
        host: text.describe('127.0.0.1 if omitted.').exactOptional(),
        port: wholeNumber(0, 65_535).describe('4665 if omitted; 0 takes any that is free.').exactOptional(),
      })
      .exactOptional(),
    socket: z
      .union([text, z.literal(false)])
      .describe('Path of the unix socket, or false for none.')
      .exactOptional(),
    hosts: z.array(text).describe('Further names this gateway is called by.').exactOptional(),
    origins: z.array(text).describe('Web pages that may call it.').exactOptional(),
    database: text
      .describe('postgres://… ; without it an embedded database in the data folder is used.')
      .exactOptional(),
    edition: z
      .enum(['lite', 'standard'])
      .describe('lite: one tenant, commands allowed. standard: several tenants.')
      .exactOptional(),
    outbound: z
      .strictObject({
        allow: z
          .array(text)
          .describe('Inner hosts that webhooks and models may be called at.')
          .exactOptional(),
        dns: z
          .array(nameServer)
          .describe('Name servers to ask instead of the resolver of this machine.')
          .exactOptional(),
      })
      .exactOptional(),
    settings: settingsSchema.describe('Defaults for every tenant.').exactOptional(),
  })
  .readonly()

export type ConfigFile = z.infer<typeof configFileSchema>

/** Reads config.yaml; a missing file is an empty one, a wrong one lists every problem with its line. */
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
    // The check is that of hook files, whose page says nothing about this one.
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
      hint: 'Make it a file that you can read, or move it away: without it the defaults hold.',
      cause: thrown,
    })
  }
}

/** Nothing but blanks and comments. */
function isBlank(content: string): boolean {
  return content.split('\n').every((line) => /^\s*(?:#.*)?$/.test(line))
}

/** The forms that the resolver takes: `1.2.3.4`, `1.2.3.4:53`, `::1`, `[::1]`, `[::1]:53`. */
function isNameServer(given: string): boolean {
  const { bracketed, plain } =
    /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[\d.]+))(?::\d{1,5})?$/.exec(given)?.groups ?? {}
  return ipaddr.IPv4.isValidFourPartDecimal(plain ?? '') || ipaddr.IPv6.isValid(bracketed ?? given)
}
