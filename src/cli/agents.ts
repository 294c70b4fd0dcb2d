import { hosts } from '../agents/connect/hosts/table.ts'
import { installed } from '../agents/connect/installed.ts'
import { programVersion } from '../agents/connect/program-version.ts'
import { connectedAgents } from '../agents/connect/state.ts'
import { agentNamed } from '../agents/table.ts'
import { meantBy } from './agent-places.ts'
import { command, exitCodes } from './command.ts'
import { openLocalGateway } from './local-gateway.ts'
import { formatTable, printMessage, printOutput } from './output.ts'

interface Row {
  readonly agent: string
  readonly title: string
  readonly installed: boolean
  readonly version?: string
  readonly connected: readonly { readonly level: string; readonly file: string }[]
  readonly unreadable: readonly string[]
  /** Milliseconds since 1970; absent when the gateway does not answer or has recorded no event. */
  readonly lastEventAt?: number
}

export const agentsCommand = command({
  async run(args) {
    const { where, dataFolder } = meantBy(args)
    const { connected, unreadable } = connectedAgents(where, dataFolder)
    const gateway = openLocalGateway()
    try {
      const last = await gateway.lastEvents(hosts.map(({ agent }) => agent))
      const rows = await Promise.all(
        hosts.map(async (host): Promise<Row> => {
          const { agent } = host
          const found = installed(host, where.env)
          const version =
            found?.program === undefined ? undefined : await programVersion(found.program, where.env)
          const at = last?.get(agent)
          return {
            agent,
            title: agentNamed(agent)?.title ?? agent,
            installed: found !== undefined,
            ...(version === undefined ? {} : { version }),
            connected: connected
              .filter((each) => each.agent === agent)
              .map(({ level, file }) => ({ level, file })),
            unreadable: unreadable.filter((each) => each.agent === agent).map(({ problem }) => problem),
            ...(at === undefined ? {} : { lastEventAt: at }),
          }
        }),
      )
      if (args.json) printOutput({ gateway: last !== undefined, agents: rows })
      else printRows(rows, last !== undefined)
      return exitCodes.ok
    } finally {
      await gateway.close()
    }
  },
})

const dateFormat = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

function printRows(rows: readonly Row[], isAsked: boolean): void {
  printOutput(
    formatTable([
      ['agent', 'installed', 'connected', 'last event'],
      ...rows.map(({ agent, installed: isHere, version, connected, lastEventAt }) => [
        agent,
        isHere ? (version ?? 'yes') : '-',
        connected.map(({ level }) => level).join(', ') || '-',
        lastEventAt === undefined ? (isAsked ? '-' : 'unknown') : dateFormat.format(lastEventAt),
      ]),
    ]),
  )
  for (const { unreadable } of rows) for (const problem of unreadable) printMessage(`! ${problem}`)
  const open = rows.filter(({ installed: isHere, connected }) => isHere && connected.length === 0)
  if (open.length > 0)
    printMessage(`connect with: hookhelm connect ${open.map(({ agent }) => agent).join(' ')}`)
}
