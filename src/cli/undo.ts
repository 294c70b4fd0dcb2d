import { undo } from '../agents/connect/connection.ts'
import { meantBy, named, placeArgs, placeOf, requireHost } from './agent-places.ts'
import { changesText } from './changes-text.ts'
import { command, exitCodes } from './command.ts'
import { printMessage, printOutput } from './output.ts'

export const undoCommand = command({
  args: {
    agent: { type: 'positional', required: true, description: 'agent name' },
    ...placeArgs,
    'dry-run': { type: 'boolean', description: 'report the changes without making them' },
    force: { type: 'boolean', description: 'restore files that were changed since, too' },
  },
  run(args, rest) {
    const { names, folder } = named(rest)
    const meant = meantBy(args, folder)
    const dryRun = args['dry-run'] === true
    for (const host of names.map(requireHost)) {
      const place = placeOf(host, meant)
      const changes = undo(
        { agent: host.agent, place, dataFolder: meant.dataFolder },
        { dryRun, force: args.force === true },
      )
      if (args.json) printOutput({ agent: host.agent, level: place.level, changes })
      else if (dryRun) printOutput(changesText(changes))
      else if (changes.length === 0) printMessage(`nothing to restore: ${place.file}`)
      else
        for (const { path, kind } of changes)
          printMessage(`${kind === 'removed' ? 'removed' : 'restored'}: ${path}`)
    }
    return exitCodes.ok
  },
})
