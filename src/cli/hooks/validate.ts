import { resolve } from 'node:path'
import { agentWarnings, textWarnings } from '../../agents/capability-warnings.ts'
import { localHandlers } from '../../app/local-handlers.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { type FileProblem, formatProblem, jsonPointer } from '../../hook-files/file-problem.ts'
import { findHookFolders, hookFileIn } from '../../hook-files/hook-folders.ts'
import type { HookFileLevel } from '../../hook-files/read/load-file.ts'
import { readHookFile } from '../../hook-files/read/read-hook-file.ts'
import {
  findBlueprintFiles,
  isBlueprintFile,
  readBlueprintFile,
} from '../../runs/blueprints/blueprint-files.ts'
import { agentsInUse } from '../agents/agents-in-use.ts'
import { command, exitCodes } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'

export const validateCommand = command({
  args: {
    agent: {
      type: 'string',
      description: 'check for these agents instead of the connected ones: names, or all; repeatable',
    },
  },
  manyWords: true,
  async run(args, files) {
    const cwd = resolve(args.cwd ?? '.')
    const reaching = agentsInUse(agentFlags(process.argv), cwd)
    const places = findHookFolders({ cwd }).flatMap(({ folder, level }) => {
      const path = hookFileIn(folder)
      const paths = [...(path === undefined ? [] : [path]), ...findBlueprintFiles({ folder })]
      return paths.map((each) => ({ path: each, level }))
    })
    const given = files.map((file) => ({ path: resolve(cwd, file), level: 'user' as const }))
    const found = given.length > 0 ? given : places
    const paths = found.map(({ path }) => path)
    const { handlers, dispose } = localHandlers({ env: process.env, log: () => {} })
    try {
      const results = found.map(({ path, level }) => checkFile({ path, level, handlers, reaching }))
      const problems = results.flatMap((result) => result.problems)
      const warnings = results.flatMap((result) => result.warnings)
      if (args.json) printOutput({ files: paths, problems, warnings })
      else for (const problem of problems) printOutput(formatProblem(problem))
      for (const { file, pointer, hook, message } of warnings)
        printMessage(`warning: ${file} ${pointer}${hook === undefined ? '' : ` ${hook}`}: ${message}`)
      const good = results.filter((result) => result.problems.length === 0).length
      printMessage(
        paths.length === 0
          ? 'no hook file and no agent file found; `hookhelm init` writes a hook file'
          : `${good} of ${paths.length} files are valid`,
      )
      return problems.length > 0 ? exitCodes.failed : exitCodes.ok
    } finally {
      await dispose()
    }
  },
})

interface FileCheck {
  readonly path: string
  readonly level: HookFileLevel
  readonly handlers: readonly Handler[]
  readonly reaching: ReturnType<typeof agentsInUse>
}

interface FileWarning {
  readonly file: string
  readonly pointer: string
  readonly hook?: string
  readonly message: string
}

interface CheckedFile {
  readonly problems: readonly FileProblem[]
  readonly warnings: readonly FileWarning[]
}

function checkFile({ path, level, handlers, reaching }: FileCheck): CheckedFile {
  if (isBlueprintFile(path)) {
    const result = readBlueprintFile(path, level, 'lite')
    if (result.kind === 'bad') return { problems: result.problems, warnings: [] }
    return {
      problems: [],
      warnings: result.warnings.map((message) => ({ file: path, pointer: '', message })),
    }
  }
  const result = readHookFile(path, { handlers, level })
  if (result.kind === 'bad') return { problems: result.problems, warnings: [] }
  const { hooks } = result.file
  return {
    problems: [],
    warnings: warningsIn(path, [...agentWarnings(hooks, reaching), ...textWarnings(hooks)]),
  }
}

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
