import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  badFinding,
  type HostEnvironment,
  type HostFinding,
  okFinding,
  warnFinding,
} from '../../agents/agent-host.ts'
import { visibleText } from '../../engine/core/values/visible-text.ts'
import { flagValue, type WrittenHookCommand, withFlagValue, withMissingClient } from '../hook-command.ts'
import type { BrokenGateways } from './broken-gateways.ts'
import { type CommandRun, findRefusal, type ProbeContext, runHookCommand } from './run-hook-command.ts'

/** Long enough for any client to start. */
const SHORT_MS = 500

/** What the doctor asks about the running gateway. */
export interface ProbedGateway {
  /** Whether a gateway accepts connections on this socket. */
  isListening(socket: string): Promise<boolean>
  /** Whether the gateway recorded this session. Undefined if the history cannot be read. */
  hasSession(session: string): Promise<boolean | undefined>
}

/** Runs each gate against the running gateway. */
export async function probeLive(
  commands: readonly WrittenHookCommand[],
  context: ProbeContext,
  gateway: ProbedGateway,
): Promise<HostFinding[]> {
  const gates = commands.filter(({ isGate }) => isGate)
  const sockets = new Set(gates.map((command) => flagValue(command, '--socket') ?? ''))
  for (const socket of sockets)
    if (!(await gateway.isListening(socket)))
      return [badFinding(`no gateway listens on ${socket}`, 'Start it with `hookhelm up`.')]
  const runs = await runInSequence(gates, async (command) => ({
    command,
    finding: await probeGate(command, context, gateway),
  }))
  return summarize(runs, (events) => `${events} ${events.includes(',') ? 'pass' : 'passes'} the hooks`)
}

const HISTORY = 'Set HOOKHELM_URL and HOOKHELM_TOKEN if the gateway is not at its usual address.'

async function probeGate(
  command: WrittenHookCommand,
  context: ProbeContext,
  gateway: ProbedGateway,
): Promise<HostFinding | undefined> {
  const { event } = command
  const session = `${context.session}-${event}`
  const run = await runHookCommand(command, { ...context, session })
  const known = await gateway.hasSession(session)
  if (run.failed !== undefined)
    return badFinding(`${event}: the client failed: ${run.failed}`, context.reconnect)
  if (known === true) return undefined
  const refusal = findRefusal(command, run)
  if (known === false)
    return badFinding(
      `${event} is missing in the gateway's history${quoteOutput(refusal ?? run.stderr)}`,
      context.reconnect,
    )
  return refusal === undefined
    ? warnFinding(`${event} was answered; the gateway's history cannot be read`, HISTORY)
    : badFinding(`${event} was not answered${quoteOutput(refusal)}`, context.reconnect)
}

/** Runs the commands without a working gateway: gates must block, and observed events must be spooled. */
export async function probeBroken(
  commands: readonly WrittenHookCommand[],
  context: ProbeContext,
  broken: BrokenGateways,
): Promise<HostFinding[]> {
  const gates = commands.filter(({ isGate }) => isGate)
  const observed = commands.filter(({ isGate }) => !isGate)
  const redirect = (command: WrittenHookCommand, socket: string) =>
    withFlagValue(withFlagValue(command, '--socket', socket), '--spool', broken.spool)
  const faults: readonly Fault[] = [
    { when: 'no gateway listens', gates, apply: (command) => redirect(command, broken.dead) },
    {
      when: 'the gateway does not answer in time',
      // One gate is enough: this test is slow, and the client's timeout is the same for all.
      gates: gates.slice(0, 1),
      apply: (command) => withFlagValue(redirect(command, broken.silent), '--within', String(SHORT_MS)),
    },
    {
      when: 'the client is gone',
      // Without a shell only the agent itself could block.
      gates: gates.filter(({ line }) => line !== undefined),
      apply: (command) => withMissingClient(redirect(command, broken.dead)),
    },
    {
      when: 'NODE_OPTIONS loads a module that prints',
      gates: gates.slice(0, 1),
      apply: (command) => redirect(command, broken.dead),
      env: { NODE_OPTIONS: `--require=${broken.printingModule}` },
    },
  ]
  const gateFindings = await runInSequence(faults, async ({ when, gates: tested, apply, env }) => {
    const results = await runInSequence(tested, async (command) => ({
      command,
      finding: checkBlocked(command, await runHookCommand(apply(command), withEnvironment(context, env)), {
        when,
        reconnect: context.reconnect,
      }),
    }))
    return summarize(
      results,
      (events) => `${events} ${events.includes(',') ? 'are' : 'is'} blocked when ${when}`,
    )
  })
  const spool = join(broken.spool, '..', `observed-${context.session}`)
  const observe = (command: WrittenHookCommand) =>
    runHookCommand(withFlagValue(redirect(command, broken.dead), '--spool', spool), context)
  // The first command creates the spool folder. The others run at the same time.
  const [first, ...others] = observed
  const runs = first === undefined ? [] : [await observe(first), ...(await Promise.all(others.map(observe)))]
  return [...gateFindings.flat(), ...checkObserved(observed, runs, { spool, reconnect: context.reconnect })]
}

interface Fault {
  readonly when: string
  readonly gates: readonly WrittenHookCommand[]
  apply(command: WrittenHookCommand): WrittenHookCommand
  /** Variables that the agent's environment has in addition. */
  readonly env?: HostEnvironment
}

function withEnvironment(context: ProbeContext, env: HostEnvironment = {}): ProbeContext {
  const { paths } = context
  return { ...context, paths: { ...paths, env: { ...paths.env, ...env } } }
}

/** The problem of a gate that has no gateway, or undefined if it blocks. */
function checkBlocked(
  command: WrittenHookCommand,
  run: CommandRun,
  { when, reconnect }: { readonly when: string; readonly reconnect: string },
): HostFinding | undefined {
  const { event, failOpen } = command
  const refusal = findRefusal(command, run)
  if (failOpen)
    return run.exit === 0 && refusal === undefined
      ? warnFinding(
          `${event} lets calls pass when ${when}: it is connected with --fail-open`,
          'Connect it again without --fail-open.',
        )
      : badFinding(`${event} ended with ${run.failed ?? run.exit} when ${when}`, reconnect)
  if (refusal !== undefined) return undefined
  const end = run.failed ?? `exit ${run.exit}`
  return badFinding(`${event} lets calls pass when ${when} (${end}${quoteOutput(run.stderr)})`, reconnect)
}

interface CommandResult {
  readonly command: WrittenHookCommand
  /** Undefined if the command did what it should. */
  readonly finding: HostFinding | undefined
}

/** One finding for all commands that work, and one for each that does not. */
function summarize(results: readonly CommandResult[], describe: (events: string) => string): HostFinding[] {
  const working = results.filter(({ finding }) => finding === undefined).map(({ command }) => command)
  return [
    ...(working.length === 0 ? [] : [okFinding(describe(names(working)))]),
    ...results.flatMap(({ finding }) => finding ?? []),
  ]
}

function checkObserved(
  commands: readonly WrittenHookCommand[],
  runs: readonly CommandRun[],
  { spool, reconnect }: { readonly spool: string; readonly reconnect: string },
): HostFinding[] {
  if (commands.length === 0) return []
  const blocking = commands.filter((_, index) => runs[index]?.exit !== 0)
  const spooled = countSpooled(spool)
  return [
    blocking.length === 0
      ? okFinding(`${commands.length} observed events do not block when no gateway listens`)
      : badFinding(`${names(blocking)} did not exit with 0 when no gateway listens`, reconnect),
    spooled === commands.length
      ? okFinding('observed events are spooled meanwhile, and delivered later')
      : badFinding(
          `${spooled} of ${commands.length} observed events were spooled`,
          'Check the permissions of the folder after --spool.',
        ),
  ]
}

function countSpooled(folder: string): number {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('.')).length
  } catch {
    return 0
  }
}

function names(commands: readonly WrittenHookCommand[]): string {
  return commands.map(({ event }) => event).join(', ')
}

/** The client's output as one line without control characters. */
function quoteOutput(output: string): string {
  const line = visibleText(output.trim().replace(/\s+/g, ' ')).slice(0, 200)
  return line === '' ? '' : `: ${line}`
}

async function runInSequence<T, R>(list: readonly T[], each: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const item of list) results.push(await each(item))
  return results
}
