import { resolve } from 'node:path'
import { formatProblem } from '../config/file-problem.ts'
import { findHookFolders, hookFileIn, trustFile } from '../config/hook-folders.ts'
import { loadFile } from '../config/read/load-file.ts'
import { readHookText } from '../config/read/read-hook-file.ts'
import { trustStore } from '../config/trust.ts'
import { HookError } from '../engine/core/error.ts'
import { command } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'

export const trustCommand = command({
  name: 'trust',
  about: "Read what a repository's hook file says, and agree to it",
  args: {
    show: { type: 'boolean', description: 'only show what changed since the last time' },
    revoke: { type: 'boolean', description: 'take trust away again' },
  },
  run(args, files) {
    const cwd = resolve(args.cwd ?? '.')
    const found = findHookFolders({ cwd })
      .filter(({ level }) => level === 'repository')
      .flatMap(({ folder }) => hookFileIn(folder) ?? [])
    const paths = files.length > 0 ? files.map((file) => resolve(cwd, file)) : found
    if (paths.length === 0) tell('no hook file of a repository here')
    const codes = paths.map((path) => (args.revoke ? revoke(path) : agree(path, args.show === true)))
    return codes.find((code) => code !== exitCodes.ok) ?? exitCodes.ok
  },
})

function agree(path: string, onlyShow: boolean): ExitCode {
  const store = trustStore(trustFile())
  const loaded = loadFile(path, 'repository')
  if (loaded === undefined) throw new HookError('config.unreadable', `${path} is not there`)
  const { text } = loaded
  const state = store.state(path, text)
  if (state === 'trusted') {
    tell(`trusted already: ${path}`)
    return exitCodes.ok
  }
  print(store.pendingDiff(path, text))
  if (onlyShow) return exitCodes.untrusted
  const read = readHookText(text, path)
  if (read.kind === 'bad') {
    for (const problem of read.problems) tell(formatProblem(problem))
    return exitCodes.failed
  }
  store.trust(path, text)
  tell(`trusted: ${path} (${read.file.hooks.length} hooks). The scripts it names are not covered.`)
  return exitCodes.ok
}

function revoke(path: string): ExitCode {
  const had = trustStore(trustFile()).revoke(path)
  tell(had ? `no longer trusted: ${path}` : `was not trusted: ${path}`)
  return exitCodes.ok
}
