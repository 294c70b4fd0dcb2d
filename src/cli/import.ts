import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { hostNamed } from '../agents/connect/hosts/table.ts'
import { ownHooks } from '../agents/connect/own-hooks.ts'
import { formatProblem } from '../config/file-problem.ts'
import {
  type AgentFormat,
  agentFormats,
  importAgentHooks,
  isAgentFormat,
} from '../config/formats/agents/import-agent.ts'
import type { Foreign, ImportResult } from '../config/formats/foreign.ts'
import { type FormatName, formatNames, importFile } from '../config/formats/import-file.ts'
import { printHookFile } from '../config/print-hook-file.ts'
import { HookError } from '../engine/core/error.ts'
import { meantBy } from './agent-places.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'

const names = [...new Set([...formatNames, ...agentFormats])]

export const importCommand = command({
  name: 'import',
  about: 'Turn hooks of another system into ours, and say what has no equivalent',
  args: {
    file: {
      type: 'positional',
      description: `the file to import, or an agent whose own hooks to take over: ${agentFormats.join(', ')}`,
      required: true,
    },
    format: { type: 'string', description: `one of ${names.join(', ')}; told from its shape otherwise` },
    out: { type: 'string', description: 'write here instead of to stdout' },
  },
  run(args) {
    const result = isAgentFormat(args.file) ? ofAgent(args.file, args.cwd) : ofFile(args)
    if (result.kind === 'refused') {
      if (args.json) print({ problems: result.problems })
      else for (const problem of result.problems) tell(formatProblem(problem))
      return exitCodes.failed
    }
    const { definitions, notes, rules, blueprints } = result
    for (const note of notes) tell(`note: ${note}`)
    if (args.json) print({ hooks: definitions, rules, blueprints, notes })
    else
      write(
        printHookFile({ hooks: definitions, ...(rules && { rules }), ...(blueprints && { blueprints }) }),
        args.out,
      )
    tell(`${definitions.length} hooks imported`)
    return exitCodes.ok
  },
})

interface Given {
  readonly file: string
  readonly cwd?: string | undefined
  readonly format?: string | undefined
}

function ofFile({ file, cwd, format }: Given): ImportResult {
  const path = resolve(cwd ?? '.', file)
  if (format !== undefined && !names.includes(format)) {
    throw new HookError('config.field', `unknown format ${format}`, { hint: `One of ${names.join(', ')}.` })
  }
  const given: Foreign = { text: readFileSync(path, 'utf8'), path }
  if (format === undefined || isFormat(format)) return importFile(given, format)
  return importAgentHooks(given, format as AgentFormat)
}

/** All that a person gave to one agent, from each of its files. */
function ofAgent(agent: AgentFormat, cwd: string | undefined): ImportResult {
  const host = hostNamed(agent)
  const files = host?.transport === 'command' ? ownHooks(host, meantBy({ cwd }).where) : []
  const results = files.map(({ path, text }) => ({ path, result: importAgentHooks({ path, text }, agent) }))
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
        : [`the hooks stay in ${path} as well and would run twice: remove them there when you use these`]),
    ]),
  }
}

function isFormat(name: string): name is FormatName {
  return formatNames.includes(name)
}

function write(text: string, out: string | undefined): void {
  if (out === undefined) {
    print(text.trimEnd())
    return
  }
  const path = resolve(out)
  if (existsSync(path)) throw new HookError('config.exists', `${path} exists already`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
