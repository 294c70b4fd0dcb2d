import { resolve } from 'node:path'
import { agentWarnings } from '../agents/warnings.ts'
import { localHandlers } from '../app/local-handlers.ts'
import { formatProblem, jsonPointer } from '../config/file-problem.ts'
import { findHookFolders, hookFileIn } from '../config/hook-folders.ts'
import { readHookFile } from '../config/read/read-hook-file.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'
import { reachingAgents } from './reaching-agents.ts'

export const validateCommand = command({
  name: 'validate',
  about: 'Check hook files, list every problem with its place, and what connected agents cannot carry out',
  args: {
    agent: {
      type: 'string',
      description: 'warn for these agents, connected or not: names, or all; may be given several times',
    },
  },
  async run(args, files) {
    const cwd = resolve(args.cwd ?? '.')
    const reaching = reachingAgents(agentFlags(process.argv), cwd)
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
      if (args.json) print({ files: paths, problems, warnings })
      else for (const problem of problems) print(formatProblem(problem))
      for (const { file, pointer, hook, message } of warnings)
        tell(`warning: ${file} ${pointer}${hook === undefined ? '' : ` ${hook}`}: ${message}`)
      const good = results.filter((result) => result.kind === 'good').length
      tell(
        paths.length === 0
          ? 'no hook file found; hookhelm init writes one'
          : `${good} of ${paths.length} files are good`,
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

/** The parser keeps only the last flag of a name. */
function agentFlags(words: readonly string[]): readonly string[] {
  return words.flatMap((word, at) => {
    const value = word === '--agent' ? (words[at + 1] ?? '') : word.match(/^--agent=(.*)$/)?.[1]
    return value?.split(',').filter((name) => name !== '') ?? []
  })
}
