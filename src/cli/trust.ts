import { resolve } from 'node:path'
import { formatProblem } from '../config/file-problem.ts'
import { findHookFolders, hookFileIn, trustFile } from '../config/hook-folders.ts'
import { loadFile } from '../config/read/load-file.ts'
import { readHookText } from '../config/read/read-hook-file.ts'
import { trustStore } from '../config/trust.ts'
import { handlerError } from '../engine/core/handler-errors.ts'
import { command, type ExitCode, exitCodes } from './command.ts'
import { printMessage, printOutput } from './output.ts'
import { reviewMcpServer } from './trust-mcp-server.ts'

export const trustCommand = command({
  args: {
    show: {
      type: 'boolean',
      description: 'show the changes since the file was last trusted, without trusting it',
    },
    revoke: { type: 'boolean', description: 'withdraw trust' },
    mcp: { type: 'string', description: 'accept the changed tools of this MCP server, instead of a file' },
  },
  run(args, files) {
    if (args.mcp !== undefined) return reviewMcpServer(args.mcp, args)
    const cwd = resolve(args.cwd ?? '.')
    const found = findHookFolders({ cwd })
      .filter(({ level }) => level === 'repository')
      .flatMap(({ folder }) => hookFileIn(folder) ?? [])
    const paths = files.length > 0 ? files.map((file) => resolve(cwd, file)) : found
    if (paths.length === 0) printMessage('this directory is in no repository with a hook file')
    const codes = paths.map((path) =>
      args.revoke ? revokeTrust(path) : reviewFile(path, args.show === true),
    )
    return codes.find((code) => code !== exitCodes.ok) ?? exitCodes.ok
  },
})

function reviewFile(path: string, onlyShow: boolean): ExitCode {
  const store = trustStore(trustFile())
  const loaded = loadFile(path, 'repository')
  if (loaded === undefined) throw handlerError('config.unreadable', `there is no file ${path}`)
  const { text } = loaded
  const state = store.state(path, text)
  if (state === 'trusted') {
    printMessage(`already trusted: ${path}`)
    return exitCodes.ok
  }
  printOutput(store.pendingDiff(path, text))
  if (onlyShow) return exitCodes.untrusted
  const read = readHookText(text, path)
  if (read.kind === 'bad') {
    for (const problem of read.problems) printMessage(formatProblem(problem))
    return exitCodes.failed
  }
  store.trust(path, text)
  printMessage(
    `trusted: ${path} (${read.file.hooks.length} hooks). Trust does not cover the scripts that it runs.`,
  )
  return exitCodes.ok
}

function revokeTrust(path: string): ExitCode {
  const wasTrusted = trustStore(trustFile()).revoke(path)
  printMessage(wasTrusted ? `no longer trusted: ${path}` : `was not trusted: ${path}`)
  return exitCodes.ok
}
