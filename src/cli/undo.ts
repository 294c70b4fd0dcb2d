import { undo } from '../connect/connection.ts'
import {
  agentLevelArgs,
  requireHost,
  resolveSelection,
  selectConfigFile,
  splitAgentNames,
} from './agent-places.ts'
import { changesText } from './changes-text.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'

export const undoCommand = command({
  name: 'undo',
  about: 'Restore the configuration of a coding agent, byte for byte, as it was before it was connected',
  args: {
    agent: { type: 'positional', required: true, description: 'the agent to restore' },
    ...agentLevelArgs,
    'dry-run': { type: 'boolean', description: 'report the changes without making them' },
    force: { type: 'boolean', description: 'restore it even if it changed since' },
  },
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
      if (args.json) print({ agent: host.agent, level: config.level, changes })
      else if (dryRun) print(changesText(changes))
      else if (changes.length === 0) tell(`nothing to restore: ${config.file}`)
      else
        for (const { path, kind } of changes) tell(`${kind === 'removed' ? 'removed' : 'restored'}: ${path}`)
    }
    return exitCodes.ok
  },
})
