import { existsSync } from 'node:fs'
import { badFinding, type HostEnvironment, type HostFinding, okFinding } from '../../agents/agent-host.ts'
import { errorText, isHookError } from '../../engine/core/errors/error.ts'
import { findHookFolders, hookFileIn, trustFile } from '../../hook-files/hook-folders.ts'
import { loadFile } from '../../hook-files/read/load-file.ts'
import { type TrustStore, trustStore } from '../../hook-files/trust.ts'
import { quoteWord } from '../hook-command.ts'

/** Repository hook files that do not apply as written: pending trust, changed since, or gone. */
export function checkHookFiles(cwd: string, env: HostEnvironment): HostFinding[] {
  const trust = trustStore(trustFile(env))
  const here = findHookFolders({ cwd, env })
    .filter(({ level }) => level === 'repository')
    .flatMap(({ folder }) => hookFileIn(folder) ?? [])
  try {
    return [...new Set([...here, ...trust.paths()])].map((path) => checkHookFile(path, trust))
  } catch (thrown) {
    return [badFinding(errorText(thrown), isHookError(thrown) ? thrown.hint : 'Run `hookhelm trust`.')]
  }
}

const problems: Readonly<Record<'new' | 'changed', string>> = {
  new: 'is not trusted, so its hooks do not run',
  changed: 'changed since it was trusted',
}

function checkHookFile(path: string, trust: TrustStore): HostFinding {
  const word = quoteWord(path)
  if (!existsSync(path))
    return badFinding(
      `${path} was trusted and is gone`,
      `Restore the file, or run \`hookhelm trust --revoke ${word}\` if its hooks should end.`,
    )
  try {
    const state = trust.state(path, loadFile(path, 'repository')?.text ?? '')
    if (state === 'trusted') return okFinding(`${path} is trusted`)
    return badFinding(`${path} ${problems[state]}`, `Read it, then run \`hookhelm trust ${word}\`.`)
  } catch (thrown) {
    return badFinding(errorText(thrown), isHookError(thrown) ? thrown.hint : 'Read it.')
  }
}
