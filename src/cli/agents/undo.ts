import { undo } from '../../connect/connection.ts'
import { command, exitCodes } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'
import {
  agentLevelArgs,
  requireHost,
  resolveSelection,
  selectConfigFile,
  splitAgentNames,
} from './agent-selection.ts'
import { changesText } from './connect-report.ts'

export const undoCommand = command({
  args: {
    agent: { type: 'positional', required: true, description: 'the agent to restore' },
    ...agentLevelArgs,
    'dry-run': { type: 'boolean', description: 'report the changes without making them' },
    force: { type: 'boolean', description: 'restore it even if it changed since' },
  },
  manyWords: true,
  run(args, rest) {
    const { names, folder } = splitAgentNames(rest)
    const selection = resolveSelection(args, folder)
    const dryRun = args['dry-run'] === true
    for (const host of names.map(requireHost)) {
      const config = selectConfigFile(host, selection)
      const changes = undo(
        { agent: host.agent, config, dataFolder: selection.dataFolder },
        { dryRun, force: args.force === true },
      )
      if (args.json) printOutput({ agent: host.agent, level: config.level, changes })
      else if (dryRun) printOutput(changesText(changes))
      else if (changes.length === 0) printMessage(`nothing to restore: ${config.file}`)
      else
        for (const { path, kind } of changes)
          printMessage(`${kind === 'removed' ? 'removed' : 'restored'}: ${path}`)
    }
    return exitCodes.ok
  },
})
