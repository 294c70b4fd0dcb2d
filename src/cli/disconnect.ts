import { anyConnection } from '../agents/connect/connectable.ts'
import { disconnect } from '../agents/connect/connection.ts'
import { connectedAgents } from '../agents/connect/state.ts'
import { serverError } from '../engine/core/server-errors.ts'
import { type Meant, meantBy, named, placeArgs, placeOf, requireHost } from './agent-places.ts'
import { changesText } from './changes-text.ts'
import { command, exitCodes } from './command.ts'
import { printMessage, printOutput } from './output.ts'

export const disconnectCommand = command({
  args: {
    agent: { type: 'positional', required: true, description: 'agent name' },
    ...placeArgs,
    'dry-run': { type: 'boolean', description: 'report the changes without making them' },
  },
  run(args, rest) {
    const { names, folder } = named(rest)
    const meant = meantBy(args, folder)
    const dryRun = args['dry-run'] === true
    const all = names.map(requireHost).map((host) => ({ host, place: placeOf(host, meant) }))
    for (const { host, place } of all) {
      const changes = disconnect(anyConnection(host, place, meant.dataFolder), { dryRun })
      if (changes.length === 0) throw notConnected(host.agent, place.file, meant)
      if (args.json) printOutput({ agent: host.agent, level: place.level, changes })
      else if (dryRun) printOutput(changesText(changes))
      else printMessage(`disconnected: ${changes.map(({ path }) => path).join(', ')}`)
    }
    return exitCodes.ok
  },
})

/** The hint names the level at which the agent is connected, if any. */
function notConnected(agent: string, file: string, { where, dataFolder }: Meant): Error {
  const [other] = connectedAgents(where, dataFolder, [agent]).connected
  return serverError('connect.agent', `${agent} is not connected in ${file}`, {
    hint:
      other === undefined
        ? 'It is not connected anywhere; `hookhelm agents` shows all.'
        : `It is in ${other.file}: add ${other.level === 'user' ? 'no flag' : `--${other.level}`}.`,
  })
}
