import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { visible } from '../../config/line-diff.ts'
import { flagOf, type WrittenCall, withFlag, withoutClient } from '../call-entry.ts'
import type { Finding } from '../host.ts'
import { bad, doubtful, good } from './check.ts'
import { type Ran, refusalIn, runCall, type Stage } from './run-call.ts'
import type { BrokenGateways } from './silent-socket.ts'

/** Long enough for any client to start, short enough for a person to wait. */
const SHORT_MS = 500

export interface Gateway {
  /** Whether somebody listens there. */
  answers(socket: string): Promise<boolean>
  /** Whether a session was recorded; nothing when nobody could be asked. */
  knows(session: string): Promise<boolean | undefined>
}

/** Sends each gate through the real gateway. */
export async function probeLive(
  calls: readonly WrittenCall[],
  stage: Stage,
  gateway: Gateway,
): Promise<Finding[]> {
  const gates = calls.filter(({ isGate }) => isGate)
  const sockets = new Set(gates.map((call) => flagOf(call, '--socket') ?? ''))
  for (const socket of sockets)
    if (!(await gateway.answers(socket)))
      return [bad(`no gateway listens on ${socket}`, 'Start it with `hookhelm up`.')]
  const tried = await inTurn(gates, async (call) => ({ call, finding: await tryLive(call, stage, gateway) }))
  return joined(tried, (events) => `${events} ${events.includes(',') ? 'pass' : 'passes'} the hooks`)
}

const AGAIN = 'Run `hookhelm connect` again, and look at the log of the gateway.'
const HISTORY = 'Set HOOKHELM_URL and HOOKHELM_TOKEN if the gateway is not at its usual address.'

async function tryLive(call: WrittenCall, stage: Stage, gateway: Gateway): Promise<Finding | undefined> {
  const { event } = call
  const session = `${stage.session}-${event}`
  const ran = await runCall(call, { ...stage, session })
  const known = await gateway.knows(session)
  if (ran.failed !== undefined) return bad(`${event}: the client did not end well: ${ran.failed}`, AGAIN)
  if (known === true) return undefined
  const words = refusalIn(call, ran)
  if (known === false)
    return bad(`${event} did not reach the history of the gateway${told(words ?? ran.stderr)}`, AGAIN)
  return words === undefined
    ? doubtful(`${event} was answered; the history of the gateway could not be asked`, HISTORY)
    : bad(`${event} was not answered${told(words)}`, AGAIN)
}

/** Takes the gateway away on purpose: what a gate is about must not go on, and what is observed must not be lost. */
export async function probeBroken(
  calls: readonly WrittenCall[],
  stage: Stage,
  broken: BrokenGateways,
): Promise<Finding[]> {
  const gates = calls.filter(({ isGate }) => isGate)
  const observed = calls.filter(({ isGate }) => !isGate)
  const apart = (call: WrittenCall, socket: string) =>
    withFlag(withFlag(call, '--socket', socket), '--spool', broken.spool)
  const ways: readonly Way[] = [
    { when: 'nobody listens', gates, change: (call) => apart(call, broken.dead) },
    {
      when: 'the gateway does not answer in time',
      // It takes its time, and what waits is the same in all of them.
      gates: gates.slice(0, 1),
      change: (call) => withFlag(apart(call, broken.silent), '--within', String(SHORT_MS)),
    },
    {
      when: 'the client is gone',
      // Without a shell it is the agent that must close, and no agent runs here.
      gates: gates.filter(({ line }) => line !== undefined),
      change: (call) => withoutClient(apart(call, broken.dead)),
    },
  ]
  const closing = await inTurn(ways, async ({ when, gates: tried, change }) => {
    const results = await inTurn(tried, async (call) => ({
      call,
      finding: opening(call, await runCall(change(call), stage), when),
    }))
    return joined(
      results,
      (events) => `${events} ${events.includes(',') ? 'are' : 'is'} blocked when ${when}`,
    )
  })
  const spool = join(broken.spool, '..', `observed-${stage.session}`)
  const keep = (call: WrittenCall) => runCall(withFlag(apart(call, broken.dead), '--spool', spool), stage)
  // The first one makes the folder, and what comes at once is about the others.
  const [first, ...others] = observed
  const ends = first === undefined ? [] : [await keep(first), ...(await Promise.all(others.map(keep)))]
  return [...closing.flat(), ...unharmed(observed, ends, spool)]
}

interface Way {
  readonly when: string
  readonly gates: readonly WrittenCall[]
  change(call: WrittenCall): WrittenCall
}

/** What is wrong with a gate that has nobody to ask; nothing when it is closed. */
function opening(call: WrittenCall, ran: Ran, when: string): Finding | undefined {
  const { event, failOpen } = call
  const words = refusalIn(call, ran)
  if (failOpen)
    return ran.exit === 0 && words === undefined
      ? doubtful(
          `${event} goes on when ${when}: it was connected with --fail-open`,
          'Connect it again without.',
        )
      : bad(`${event} ended with ${ran.failed ?? ran.exit} when ${when}`, AGAIN)
  if (words !== undefined) return undefined
  const how = ran.failed ?? `exit ${ran.exit}`
  return bad(`${event} would go on when ${when} (${how}${told(ran.stderr)})`, AGAIN)
}

interface Tried {
  readonly call: WrittenCall
  /** Nothing when it went well. */
  readonly finding: Finding | undefined
}

/** What went well in one line, the rest one by one. */
function joined(tried: readonly Tried[], words: (events: string) => string): Finding[] {
  const well = tried.filter(({ finding }) => finding === undefined).map(({ call }) => call)
  return [
    ...(well.length === 0 ? [] : [good(words(names(well)))]),
    ...tried.flatMap(({ finding }) => finding ?? []),
  ]
}

function unharmed(calls: readonly WrittenCall[], ends: readonly Ran[], spool: string): Finding[] {
  if (calls.length === 0) return []
  const blocking = calls.filter((_, index) => ends[index]?.exit !== 0)
  const kept = filesIn(spool)
  return [
    blocking.length === 0
      ? good(`${calls.length} observed events go on when nobody listens`)
      : bad(`${names(blocking)} did not end with 0 when nobody listens`, AGAIN),
    kept === calls.length
      ? good('what is observed meanwhile is kept, and delivered later')
      : bad(
          `${kept} of ${calls.length} observed events were kept for later`,
          'Look at the folder of --spool.',
        ),
  ]
}

function filesIn(folder: string): number {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('.')).length
  } catch {
    return 0
  }
}

function names(calls: readonly WrittenCall[]): string {
  return calls.map(({ event }) => event).join(', ')
}

/** What the client said, as one line that can do nothing to a terminal. */
function told(words: string): string {
  const line = visible(words.trim().replace(/\s+/g, ' ')).slice(0, 200)
  return line === '' ? '' : `: ${line}`
}

async function inTurn<T, R>(list: readonly T[], each: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const item of list) results.push(await each(item))
  return results
}
