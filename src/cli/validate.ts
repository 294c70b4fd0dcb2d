import { resolve } from 'node:path'
import { localHandlers } from '../app/local-handlers.ts'
import { findHookPlaces, hookFileIn } from '../config/find.ts'
import { problemLine } from '../config/problem.ts'
import { readHookFile } from '../config/read/read-file.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'

export const validateCommand = command({
  name: 'validate',
  about: 'Check hook files and list every problem with its place',
  async run(args, files) {
    const cwd = resolve(args.cwd ?? '.')
    const places = findHookPlaces({ cwd }).flatMap(({ folder, level }) => {
      const path = hookFileIn(folder)
      return path === undefined ? [] : [{ path, level }]
    })
    const given = files.map((file) => ({ path: resolve(cwd, file), level: 'user' as const }))
    const found = given.length > 0 ? given : places
    const paths = found.map(({ path }) => path)
    const { handlers, dispose } = localHandlers({ env: process.env, log: () => {} })
    try {
      const results = found.map(({ path, level }) => readHookFile(path, { handlers, level }))
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
