import { backupFolder, readBackup } from '../../connect/backup.ts'
import { disconnect, disconnectTargets } from '../../connect/connection.ts'
import { findConnections } from '../../connect/find-connections.ts'
import { serverError } from '../../engine/core/errors/server-errors.ts'
import { command, exitCodes } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'
import {
  type AgentSelection,
  agentLevelArgs,
  requireHost,
  resolveSelection,
  selectConfigFile,
  splitAgentNames,
} from './agent-selection.ts'
import { changesText } from './connect-report.ts'

export const disconnectCommand = command({
  args: {
    agent: { type: 'positional', required: true, description: 'the agent to disconnect' },
    ...agentLevelArgs,
    'dry-run': { type: 'boolean', description: 'report the changes without making them' },
  },
  manyWords: true,
  run(args, rest) {
    const { names, folder } = splitAgentNames(rest)
    const selection = resolveSelection(args, folder)
    const dryRun = args['dry-run'] === true
    const all = names.map(requireHost).map((host) => ({ host, config: selectConfigFile(host, selection) }))
    for (const { host, config } of all) {
      const { dataFolder } = selection
      const targets = disconnectTargets(host, config, dataFolder)
      const isKnown = readBackup(backupFolder(dataFolder), { agent: host.agent, ...config }) !== undefined
      const changes = disconnect({ agent: host.agent, config, targets, dataFolder }, { dryRun })
      if (changes.length === 0 && !isKnown) throw notConnected(host.agent, config.file, selection)
      if (args.json) printOutput({ agent: host.agent, level: config.level, changes })
      else if (dryRun) printOutput(changesText(changes))
      else if (changes.length === 0) printMessage(`no longer expected to be connected: ${config.file}`)
      else printMessage(`disconnected: ${changes.map(({ path }) => path).join(', ')}`)
    }
    return exitCodes.ok
  },
})

function notConnected(agent: string, file: string, { paths, dataFolder }: AgentSelection): Error {
  const [other] = findConnections(paths, dataFolder, [agent]).connected
  return serverError('connect.agent', `${agent} is not connected in ${file}`, {
    hint:
      other === undefined
        ? 'It is not connected at all; `hookhelm agents` lists every agent.'
        : `It is connected in ${other.file}: use ${other.level === 'user' ? 'no flag' : `--${other.level}`}.`,
  })
}
