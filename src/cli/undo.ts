import { undo } from '../connect/connection.ts'
import { meantBy, named, placeArgs, placeOf, requireHost } from './agent-places.ts'
import { changesText } from './changes-text.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'

export const undoCommand = command({
  name: 'undo',
  about: 'Put the configuration of a coding agent back, byte for byte, as it was before it was connected',
  args: {
    agent: { type: 'positional', required: true, description: 'which one' },
    ...placeArgs,
    'dry-run': { type: 'boolean', description: 'show what would change, and change nothing' },
    force: { type: 'boolean', description: 'even if somebody changed it since' },
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
      if (args.json) print({ agent: host.agent, level: place.level, changes })
      else if (dryRun) print(changesText(changes))
      else if (changes.length === 0) tell(`as it was already: ${place.file}`)
      else
        for (const { path, kind } of changes) tell(`${kind === 'removed' ? 'removed' : 'as it was'}: ${path}`)
    }
    return exitCodes.ok
  },
})
