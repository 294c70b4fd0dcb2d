import { lstatSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { badFinding, type HostFinding, okFinding, warnFinding } from '../../agents/agent-host.ts'
import { chooseClient } from '../../agents/client/find-client.ts'
import { findAdapter } from '../../agents/table.ts'
import { checkHookFiles } from '../../connect/doctor/check-hook-files.ts'
import { type DoctorCheck, runDoctor } from '../../connect/doctor/run-doctor.ts'
import { findConnections } from '../../connect/find-connections.ts'
import { pingSocket } from '../../connect/ping-socket.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { visibleText } from '../../engine/core/values/visible-text.ts'
import type { EffectiveHook } from '../../stored-hooks/saving/effective-hook-schema.ts'
import { command, exitCodes } from '../command.ts'
import { type LocalGateway, openLocalGateway } from '../gateway/local-gateway.ts'
import { printOutput } from '../output.ts'
import { packageVersion } from '../package-version.ts'
import { defaultSocket, requireHost, resolveSelection } from './agent-selection.ts'

export const doctorCommand = command({
  args: {
    agent: {
      type: 'positional',
      required: false,
      description: 'the agent to test (default: all that are connected)',
    },
  },
  manyWords: true,
  async run(args, rest) {
    const names = rest.map((name) => requireHost(name).agent)
    const { paths, dataFolder } = resolveSelection(args)
    const gateway = openLocalGateway()
    try {
      const about = await aboutGateway(gateway, defaultSocket(paths.env))
      const agentChecks = await runDoctor({
        paths,
        dataFolder,
        ...(names.length === 0 ? {} : { names }),
        gateway: { isListening: pingSocket, hasSession: (session) => gateway.knows(session) },
        client: chooseClient(undefined),
      })
      const checks: DoctorCheck[] = [
        ...about,
        ...checkHookFiles(resolve(args.cwd ?? '.'), paths.env),
        ...textChecks(await gateway.effective(resolve(args.cwd ?? '.'))),
        ...agentChecks,
        ...(await reportChecks(gateway, agentChecks)),
      ]
      const isAny = checks.some(({ agent }) => agent !== undefined)
      const all = isAny
        ? checks
        : [...checks, warnFinding('no agent is connected', 'Run `hookhelm connect`.')]
      if (args.json) printOutput({ ok: !all.some(isBad), checks: all })
      else printOutput(formatChecks(all, filesOf(paths, dataFolder)))
      return all.some(isBad) ? exitCodes.failed : exitCodes.ok
    } finally {
      await gateway.close()
    }
  },
})

/** Stores the result of each agent in the gateway, which shows the last one to everybody. */
async function reportChecks(gateway: LocalGateway, checks: readonly DoctorCheck[]): Promise<HostFinding[]> {
  const byAgent = Map.groupBy(checks, ({ agent }) => agent)
  const problems = new Set<string>()
  for (const [agent, list] of byAgent) {
    if (agent === undefined) continue
    const problem = await gateway.report(agent, list.map(reportedCheck))
    if (problem !== undefined) problems.add(problem)
  }
  return [...problems].map((problem) =>
    warnFinding(`the result cannot be stored in the gateway: ${problem}`, 'Run `hookhelm status`.'),
  )
}

const MAX_REPORTED = 2_000

function reportedCheck({ state, text, hint, level }: DoctorCheck) {
  return {
    state,
    text: text.slice(0, MAX_REPORTED),
    ...definedFields({ hint: hint?.slice(0, MAX_REPORTED), level }),
  }
}

/** Gateway health, and every disabled or failing hook. */
async function aboutGateway(gateway: LocalGateway, socket: string): Promise<HostFinding[]> {
  if (!(await pingSocket(socket)))
    return [
      badFinding(
        `no gateway listens on ${socket}`,
        'Start it with `hookhelm up`. Until then every gate blocks.',
      ),
    ]
  const listens = [okFinding(`the gateway listens on ${socket}`), ...checkPermissions(socket)]
  const status = await gateway.status()
  if ('problem' in status)
    return [
      ...listens,
      warnFinding(`its status cannot be read: ${status.problem}`, 'Set HOOKHELM_URL and HOOKHELM_TOKEN.'),
    ]
  const { version, ready, lines, hooks } = status
  return [
    ...listens,
    ready
      ? okFinding(`version ${version}, ready`)
      : badFinding(`version ${version}, not ready`, 'See `hookhelm status`.'),
    ...(version === packageVersion()
      ? []
      : [
          warnFinding(
            `this command is version ${packageVersion()}, the gateway is not`,
            'Restart the gateway.',
          ),
        ]),
    ...lines
      .filter(({ state }) => state !== 'ok')
      .map(({ name, state, text }) => ({ state, text: `${name}: ${text}`, hint: 'See `hookhelm status`.' })),
    ...hooks.tripped.map(({ hookId, event, name, reason }) =>
      badFinding(
        `hook ${name ?? hookId} on ${event}: ${reason}`,
        `Fix it, then run \`hookhelm hooks toggle ${hookId}\`.`,
      ),
    ),
  ]
}

/** Hooks whose text does not stop a call. */
function textChecks(hooks: readonly EffectiveHook[]): HostFinding[] {
  const byId = new Map(hooks.map((hook) => [hook.id, hook]))
  return [...byId.values()].flatMap(({ id, name, event, printed, state, source: { file, line } }) => {
    if (printed === undefined || state === 'off') return []
    const where = file === undefined ? '' : ` (${file}${line === undefined ? '' : `:${line}`})`
    return [
      warnFinding(
        `hook ${name ?? id} on ${event} ${printed}${where}`,
        'A call runs although the hook printed a refusal as text. Set `answer: exact` if it answers with JSON.',
      ),
    ]
  })
}

/** Another user with write permission could answer instead of the gateway. */
function checkPermissions(socket: string): HostFinding[] {
  const uid = process.getuid?.()
  return [socket, dirname(socket)].flatMap((path) => {
    const { uid: owner, mode } = lstatSync(path)
    if (owner !== uid && owner !== 0)
      return [badFinding(`${path} belongs to user ${owner}`, 'Remove it and restart the gateway.')]
    return (mode & 0o022) === 0
      ? []
      : [badFinding(`others may write to ${path}`, `Run \`chmod go-w ${path}\`.`)]
  })
}

const signs = { ok: '✓', warn: '!', bad: '✗' } as const

function formatChecks(checks: readonly DoctorCheck[], files: ReadonlyMap<string, string>): string {
  const groups = Map.groupBy(checks, ({ agent, level }) =>
    agent === undefined ? '' : `${agent} ${level ?? ''}`,
  )
  return [...groups]
    .map(([key, list]) => {
      const [name = '', level = ''] = key.split(' ')
      const title = findAdapter(name)?.title ?? name
      const file = files.get(key)
      const head =
        key === ''
          ? 'Gateway and hook files'
          : `${title}${level === '' ? '' : `, ${level}`}${file ? ` (${file})` : ''}`
      return [head, ...list.map(line)].join('\n')
    })
    .join('\n\n')
}

function line({ state, text, hint }: DoctorCheck): string {
  const first = `  ${signs[state]} ${visibleText(text)}`
  return state === 'ok' || hint === undefined ? first : `${first}\n      ${hint}`
}

function filesOf(...about: Parameters<typeof findConnections>): ReadonlyMap<string, string> {
  const { connected, unreadable } = findConnections(...about)
  return new Map([...connected, ...unreadable].map(({ agent, level, file }) => [`${agent} ${level}`, file]))
}

function isBad({ state }: DoctorCheck): boolean {
  return state === 'bad'
}
