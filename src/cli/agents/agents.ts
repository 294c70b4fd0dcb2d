import { agentProfiles } from '../../agents/table.ts'
import { findConnections } from '../../connect/find-connections.ts'
import { findProgram, programVersion } from '../../connect/installed-agent.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { command, exitCodes } from '../command.ts'
import { openLocalGateway } from '../gateway/local-gateway.ts'
import { formatTable, printMessage, printOutput } from '../output.ts'
import { resolveSelection } from './agent-selection.ts'

interface Row {
  readonly agent: string
  readonly title: string
  readonly installed: boolean
  readonly version?: string
  readonly connected: readonly { readonly level: string; readonly file: string }[]
  readonly unreadable: readonly string[]
  /** Milliseconds since 1970. Undefined if the gateway does not answer or has no event of this agent. */
  readonly lastEventAt?: number
  /** The last result of `hookhelm doctor` that the gateway has. */
  readonly doctor?: { readonly ok: boolean; readonly at: number }
}

export const agentsCommand = command({
  async run(args) {
    const { paths, dataFolder } = resolveSelection(args)
    const { connected, unreadable } = findConnections(paths, dataFolder)
    const gateway = openLocalGateway()
    try {
      const [last, reports] = await Promise.all([
        gateway.lastEvents(agentProfiles.map(({ adapter }) => adapter.name)),
        gateway.reports(),
      ])
      const rows = await Promise.all(
        agentProfiles.map(async ({ host, adapter }): Promise<Row> => {
          const { agent } = host
          const program = findProgram(host, paths.env)
          const version = program === undefined ? undefined : await programVersion(program, paths.env)
          const report = reports?.find((each) => each.agent === agent)
          return {
            agent,
            title: adapter.title,
            installed: program !== undefined,
            ...definedFields({ version }),
            connected: connected
              .filter((each) => each.agent === agent)
              .map(({ level, file }) => ({ level, file })),
            unreadable: unreadable.filter((each) => each.agent === agent).map(({ problem }) => problem),
            ...definedFields({
              lastEventAt: last?.get(agent),
              doctor: report && { ok: report.ok, at: report.reported_at },
            }),
          }
        }),
      )
      if (args.json) printOutput({ gateway: last !== undefined, agents: rows })
      else show(rows, last !== undefined)
      return exitCodes.ok
    } finally {
      await gateway.close()
    }
  },
})

const timeFormat = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

function show(rows: readonly Row[], isAsked: boolean): void {
  printOutput(
    formatTable([
      ['agent', 'installed', 'connected', 'last event', 'doctor'],
      ...rows.map(({ agent, installed: isHere, version, connected, lastEventAt, doctor }) => [
        agent,
        isHere ? (version ?? 'yes') : '-',
        connected.map(({ level }) => level).join(', ') || '-',
        lastEventAt === undefined ? (isAsked ? '-' : 'unknown') : timeFormat.format(lastEventAt),
        doctor === undefined ? '-' : `${doctor.ok ? 'ok' : 'FAILED'} ${timeFormat.format(doctor.at)}`,
      ]),
    ]),
  )
  for (const { unreadable } of rows) for (const problem of unreadable) printMessage(`! ${problem}`)
  const open = rows.filter(({ installed: isHere, connected }) => isHere && connected.length === 0)
  if (open.length > 0)
    printMessage(`connect with: hookhelm connect ${open.map(({ agent }) => agent).join(' ')}`)
}
