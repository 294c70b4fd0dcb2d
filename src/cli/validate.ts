import { resolve } from 'node:path'
import { agentWarnings } from '../agents/capability-warnings.ts'
import { localHandlers } from '../app/local-handlers.ts'
import { formatProblem, jsonPointer } from '../config/file-problem.ts'
import { findHookFolders, hookFileIn } from '../config/hook-folders.ts'
import { readHookFile } from '../config/read/read-hook-file.ts'
import { agentsInUse } from './agents-in-use.ts'
import { command, exitCodes } from './command.ts'
import { printMessage, printOutput } from './output.ts'

export const validateCommand = command({
  args: {
    agent: {
      type: 'string',
      description: 'check for these agents instead of the connected ones: names, or all; repeatable',
    },
  },
  async run(args, files) {
    const cwd = resolve(args.cwd ?? '.')
    const reaching = agentsInUse(agentFlags(process.argv), cwd)
    const places = findHookFolders({ cwd }).flatMap(({ folder, level }) => {
      const path = hookFileIn(folder)
      return path === undefined ? [] : [{ path, level }]
    })
    const given = files.map((file) => ({ path: resolve(cwd, file), level: 'user' as const }))
    const found = given.length > 0 ? given : places
    const paths = found.map(({ path }) => path)
    const { handlers, dispose } = localHandlers({ env: process.env, log: () => {} })
    try {
      const results = found.map(({ path, level }) => ({ path, ...readHookFile(path, { handlers, level }) }))
      const problems = results.flatMap((result) => (result.kind === 'bad' ? result.problems : []))
      const warnings = results.flatMap((result) =>
        result.kind === 'good' ? warningsIn(result.path, agentWarnings(result.file.hooks, reaching)) : [],
      )
      if (args.json) printOutput({ files: paths, problems, warnings })
      else for (const problem of problems) printOutput(formatProblem(problem))
      for (const { file, pointer, hook, message } of warnings)
        printMessage(`warning: ${file} ${pointer}${hook === undefined ? '' : ` ${hook}`}: ${message}`)
      const good = results.filter((result) => result.kind === 'good').length
      printMessage(
        paths.length === 0
          ? 'no hook file found; `hookhelm init` writes one'
          : `${good} of ${paths.length} files are valid`,
      )
      return problems.length > 0 ? exitCodes.failed : exitCodes.ok
    } finally {
      await dispose()
    }
  },
})

function warningsIn(file: string, warnings: ReturnType<typeof agentWarnings>) {
  return warnings.map(({ index, ...rest }) => ({ file, pointer: jsonPointer(['hooks', index]), ...rest }))
}

/** The parser keeps only the last value of a repeated flag. */
function agentFlags(words: readonly string[]): readonly string[] {
  return words.flatMap((word, at) => {
    const value = word === '--agent' ? (words[at + 1] ?? '') : word.match(/^--agent=(.*)$/)?.[1]
    return value?.split(',').filter((name) => name !== '') ?? []
  })
}
