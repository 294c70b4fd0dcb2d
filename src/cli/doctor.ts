import { lstatSync } from 'node:fs'
import { dirname } from 'node:path'
import { chooseClient } from '../agents/connect/choose-client.ts'
import { bad, type Check, doubtful, good } from '../agents/connect/doctor/check.ts'
import { examine } from '../agents/connect/doctor/doctor.ts'
import type { Finding } from '../agents/connect/host.ts'
import { answers } from '../agents/connect/knock.ts'
import { connectedAgents } from '../agents/connect/state.ts'
import { agentNamed } from '../agents/table.ts'
import { visible } from '../config/line-diff.ts'
import { defaultSocket, meantBy, requireHost } from './agent-places.ts'
import { command, exitCodes } from './command.ts'
import { type LocalGateway, openLocalGateway } from './local-gateway.ts'
import { printOutput } from './output.ts'
import { packageVersion } from './package-version.ts'

export const doctorCommand = command({
  args: {
    agent: { type: 'positional', required: false, description: 'agent name (default: all connected agents)' },
  },
  async run(args, rest) {
    const names = rest.map((name) => requireHost(name).agent)
    const { where, dataFolder } = meantBy(args)
    const gateway = openLocalGateway()
    try {
      const about = await checkGateway(gateway, defaultSocket(where.env))
      const checks: Check[] = [
        ...about,
        ...(await examine({
          where,
          dataFolder,
          ...(names.length === 0 ? {} : { names }),
          gateway: { answers, knows: (session) => gateway.knows(session) },
          client: chooseClient(undefined),
        })),
      ]
      const isAny = checks.some(({ agent }) => agent !== undefined)
      const all = isAny ? checks : [...checks, doubtful('no agent is connected', 'Run `hookhelm connect`.')]
      if (args.json) printOutput({ ok: !all.some(isBad), checks: all })
      else printOutput(formatChecks(all, filesOf(where, dataFolder)))
      return all.some(isBad) ? exitCodes.failed : exitCodes.ok
    } finally {
      await gateway.close()
    }
  },
})

/** Gateway health, and every disabled or failing hook. */
async function checkGateway(gateway: LocalGateway, socket: string): Promise<Finding[]> {
  if (!(await answers(socket)))
    return [
      bad(`no gateway listens on ${socket}`, 'Start it with `hookhelm up`: until then every gate is closed.'),
    ]
  const listens = [good(`the gateway listens on ${socket}`), ...permissions(socket)]
  const status = await gateway.status()
  if ('problem' in status)
    return [
      ...listens,
      doubtful(`its status cannot be read: ${status.problem}`, 'Set HOOKHELM_URL and HOOKHELM_TOKEN.'),
    ]
  const { version, ready, lines, hooks } = status
  return [
    ...listens,
    ready
      ? good(`version ${version}, ready`)
      : bad(`version ${version}, not ready`, 'See `hookhelm status`.'),
    ...(version === packageVersion()
      ? []
      : [
          doubtful(
            `this is version ${packageVersion()}, the gateway another one`,
            'Start the gateway again.',
          ),
        ]),
    ...lines.filter(({ state }) => state !== 'ok').map(({ name, state, text }) => checkOf(name, state, text)),
    ...hooks.tripped.map(({ hookId, event, name, reason }) =>
      bad(
        `hook ${name ?? hookId} on ${event}: ${reason}`,
        `Fix it, then \`hookhelm hooks toggle ${hookId}\`.`,
      ),
    ),
  ]
}

function checkOf(name: string, state: 'ok' | 'warn' | 'bad', text: string): Finding {
  return { state, text: `${name}: ${text}`, hint: 'See `hookhelm status`.' }
}

/** Another user who can write there could answer instead of the gateway. */
function permissions(socket: string): Finding[] {
  const uid = process.getuid?.()
  return [socket, dirname(socket)].flatMap((path) => {
    const { uid: owner, mode } = lstatSync(path)
    if (owner !== uid && owner !== 0)
      return [bad(`${path} belongs to user ${owner}`, 'Remove it and start again.')]
    return (mode & 0o022) === 0 ? [] : [bad(`others may write to ${path}`, `Run \`chmod go-w ${path}\`.`)]
  })
}

const signs = { ok: '✓', warn: '!', bad: '✗' } as const

function formatChecks(checks: readonly Check[], files: ReadonlyMap<string, string>): string {
  const groups = Map.groupBy(checks, ({ agent, level }) =>
    agent === undefined ? '' : `${agent} ${level ?? ''}`,
  )
  return [...groups]
    .map(([key, list]) => {
      const [name = '', level = ''] = key.split(' ')
      const title = agentNamed(name)?.title ?? name
      const file = files.get(key)
      const head =
        key === '' ? 'Gateway' : `${title}${level === '' ? '' : `, ${level}`}${file ? ` (${file})` : ''}`
      return [head, ...list.map(line)].join('\n')
    })
    .join('\n\n')
}

function line({ state, text, hint }: Check): string {
  const first = `  ${signs[state]} ${visible(text)}`
  return state === 'ok' || hint === undefined ? first : `${first}\n      ${hint}`
}

function filesOf(...about: Parameters<typeof connectedAgents>): ReadonlyMap<string, string> {
  const { connected, unreadable } = connectedAgents(...about)
  return new Map([...connected, ...unreadable].map(({ agent, level, file }) => [`${agent} ${level}`, file]))
}

function isBad({ state }: Check): boolean {
  return state === 'bad'
}
