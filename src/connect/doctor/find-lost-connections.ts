import { existsSync } from 'node:fs'
import { type AgentConfigFile, type AgentHost, badFinding, type HostPaths } from '../../agents/agent-host.ts'
import { findHost } from '../../agents/table.ts'
import { isHookError } from '../../engine/core/errors/error.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { backupFolder, type ConnectionBackup, listBackups } from '../backup.ts'
import { connectLine, projectOf } from '../connect-line.ts'
import { readConnection } from '../find-connections.ts'
import { quoteWord } from '../hook-command.ts'
import type { DoctorCheck, DoctorOptions } from './run-doctor.ts'

/** Connections that `connect` made and that are no longer in the agent's configuration. */
export function findLostConnections({ paths, dataFolder, names }: DoctorOptions): DoctorCheck[] {
  const { backups, problems } = listBackups(backupFolder(dataFolder))
  return [
    ...problems.map(({ message, hint }) => badFinding(message, hint)),
    ...backups
      .filter(({ agent }) => names === undefined || names.includes(agent))
      .flatMap((backup) => checkBackup(backup, paths, dataFolder)),
  ]
}

function checkBackup(
  { agent, level: stored, file, flags = [] }: ConnectionBackup,
  paths: HostPaths,
  dataFolder: string,
): DoctorCheck[] {
  const host = findHost(agent)
  const level = (['user', 'project', 'local'] as const).find((each) => each === stored)
  if (host === undefined || level === undefined) return []
  const project = level === 'user' ? undefined : projectOf(host, { level, file }, paths)
  // With the project, its connection is gone too.
  if (project !== undefined && !existsSync(project)) return []
  if (isStillConnected(host, { level, file }, dataFolder)) return []
  const config = { level, file, ...definedFields({ project }) }
  const again = connectLine('connect', { agent, config, paths, flags })
  const forget = connectLine('disconnect', { agent, config, paths })
  // `connect` does not overwrite a plugin file that it did not write.
  const isForeign = host.transport === 'plugin' && existsSync(file) && host.configEdits('').length === 0
  const mend = isForeign ? `mv ${quoteWord(file)} ${quoteWord(`${file}.old`)} && ${again}` : again
  const what = existsSync(file) ? 'no longer has the hooks of Hookhelm' : 'is gone, and with it every hook'
  const hint = `Run \`${mend}\`, or \`${forget}\` if you removed them on purpose.`
  return [{ agent, level, ...badFinding(`${file} ${what}`, hint) }]
}

/** A configuration that cannot be read is reported elsewhere, unless it belongs to another project. */
function isStillConnected(host: AgentHost, config: AgentConfigFile, dataFolder: string): boolean {
  try {
    return readConnection(host, config, dataFolder) !== undefined
  } catch (thrown) {
    if (isHookError(thrown)) return true
    throw thrown
  }
}
