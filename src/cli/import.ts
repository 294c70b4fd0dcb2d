import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type FormatName, formatNames, importFile } from '../config/formats/import-file.ts'
import { printHookFile } from '../config/print.ts'
import { problemLine } from '../config/problem.ts'
import { HookError } from '../engine/core/error.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'

export const importCommand = command({
  name: 'import',
  about: 'Turn hooks of another system into ours, and say what has no equivalent',
  args: {
    file: { type: 'positional', description: 'the file to import', required: true },
    format: {
      type: 'string',
      description: `one of ${formatNames.join(', ')}; told from its shape otherwise`,
    },
    out: { type: 'string', description: 'write here instead of to stdout' },
  },
  run(args) {
    const path = resolve(args.cwd ?? '.', args.file)
    const format = args.format
    if (format !== undefined && !isFormat(format)) {
      throw new HookError('config.field', `unknown format ${format}`, {
        hint: `One of ${formatNames.join(', ')}.`,
      })
    }
    const result = importFile({ text: readFileSync(path, 'utf8'), path }, format)
    if (result.kind === 'refused') {
      if (args.json) print({ problems: result.problems })
      else for (const problem of result.problems) tell(problemLine(problem))
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
