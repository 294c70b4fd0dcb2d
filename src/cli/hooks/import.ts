import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { importableAgents, importFile, importFormats } from '../../agents/import-file.ts'
import { findHost } from '../../agents/table.ts'
import { findForeignHooks } from '../../connect/find-connections.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { formatProblem } from '../../hook-files/file-problem.ts'
import type { ImportResult } from '../../hook-files/formats/import-format.ts'
import { printHookFile } from '../../hook-files/print-hook-file.ts'
import { resolveSelection } from '../agents/agent-selection.ts'
import { command, exitCodes, type Flags } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'

export const importCommand = command({
  args: {
    file: {
      type: 'positional',
      description: `the file to import, or an agent whose own hooks to import: ${importableAgents.join(', ')}`,
      required: true,
    },
    from: {
      type: 'string',
      description: `the format of the file: one of ${importFormats.join(', ')} (default: detected from the content)`,
    },
    out: { type: 'string', description: 'write to this file instead of stdout' },
  },
  async run(args) {
    const result = importableAgents.includes(args.file)
      ? await importAgent(args.file, args.cwd)
      : await importPath(args)
    if (result.kind === 'refused') {
      if (args.json) printOutput({ problems: result.problems })
      else for (const problem of result.problems) printMessage(formatProblem(problem))
      return exitCodes.failed
    }
    const { definitions, notes } = result
    for (const note of notes) printMessage(`warning: ${note}`)
    if (args.json) printOutput({ hooks: definitions, notes })
    else write(printHookFile({ hooks: definitions }, notes), args.out)
    printMessage(`${definitions.length} hooks imported`)
    return exitCodes.ok
  },
})

function importPath({
  file,
  cwd,
  from,
}: Flags<'cwd' | 'from'> & { readonly file: string }): Promise<ImportResult> {
  const path = resolve(cwd ?? '.', file)
  return importFile({ text: readFileSync(path, 'utf8'), path }, from)
}

/** Imports the hooks of one agent from all its configuration files. */
async function importAgent(agent: string, cwd: string | undefined): Promise<ImportResult> {
  const host = findHost(agent)
  const files = host?.transport === 'command' ? findForeignHooks(host, resolveSelection({ cwd }).paths) : []
  const results = await Promise.all(
    files.map(async ({ path, text }) => ({ path, result: await importFile({ path, text }, agent) })),
  )
  const refused = results.flatMap(({ result }) => (result.kind === 'refused' ? result.problems : []))
  if (refused.length > 0) return { kind: 'refused', problems: refused }
  const good = results.flatMap(({ path, result }) =>
    result.kind === 'imported' ? [{ path, ...result }] : [],
  )
  return {
    kind: 'imported',
    definitions: good.flatMap(({ definitions }) => definitions),
    notes: good.flatMap(({ path, definitions, notes }) => [
      ...notes.map((note) => `${path}: ${note}`),
      ...(definitions.length === 0
        ? []
        : [`the hooks are still in ${path} and would run twice: remove them there when you use these`]),
    ]),
  }
}

function write(text: string, out: string | undefined): void {
  if (out === undefined) {
    printOutput(text.trimEnd())
    return
  }
  const path = resolve(out)
  if (existsSync(path)) throw handlerError('config.exists', `${path} exists already`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
