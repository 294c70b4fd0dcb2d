import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { localHandlers } from '../app/local-handlers.ts'
import { findHookPlaces, hookFileIn } from '../config/find.ts'
import { problemLine } from '../config/problem.ts'
import { readHookText } from '../config/read/read-text.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'

export const validateCommand = command({
  name: 'validate',
  about: 'Check hook files and list every problem with its place',
  async run(args, files) {
    const cwd = resolve(args.cwd ?? '.')
    const found = findHookPlaces({ cwd }).flatMap(({ folder }) => hookFileIn(folder) ?? [])
    const paths = files.length > 0 ? files.map((file) => resolve(cwd, file)) : found
    const { handlers, dispose } = localHandlers({ cwd, env: process.env, log: () => {} })
    try {
      const results = paths.map((path) => ({
        path,
        ...readHookText(readFileSync(path, 'utf8'), path, { handlers }),
      }))
      const problems = results.flatMap((result) => (result.kind === 'bad' ? result.problems : []))
      if (args.json) print({ files: paths, problems })
      else for (const problem of problems) print(problemLine(problem))
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
