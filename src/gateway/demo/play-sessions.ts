import type { Caller } from '../../access/caller.ts'
import type { Envelope } from '../../engine/core/context.ts'
import type { Dispatcher } from '../dispatch.ts'
import type { DemoCall, DemoSession, DemoStep } from './demo-sessions.ts'

const MINUTE = 60_000
/** How long a tool runs. */
const TOOL_MS = 900

interface TimedStep {
  readonly session: DemoSession
  readonly step: DemoStep
  readonly index: number
  readonly at: number
}

interface Stage {
  readonly dispatcher: Dispatcher
  readonly caller: Caller
  readonly now: number
}

/**
 * Sends the events of the sessions through the hooks, in the order of their times, which end now. The scripted agents obey
 * the decisions: a blocked call has no result, and a rewritten call runs with the new input.
 */
export async function playSessions(sessions: readonly DemoSession[], stage: Stage): Promise<void> {
  const steps = sessions.flatMap((session) => timeSteps(session, stage.now)).sort((a, b) => a.at - b.at)
  for (const timed of steps) {
    const { step } = timed
    if (step.kind === 'call') await playCall(timed, step, stage)
    else await dispatch(timed, step, stage)
  }
}

/** Spreads the steps of a session evenly over its time. */
function timeSteps(session: DemoSession, now: number): readonly TimedStep[] {
  const { steps, startedMinutesAgo, endedMinutesAgo } = session
  const start = now - startedMinutesAgo * MINUTE
  const span = (startedMinutesAgo - endedMinutesAgo) * MINUTE - TOOL_MS
  return steps.map((step, index) => ({
    session,
    step,
    index,
    at: Math.round(start + (span * index) / (steps.length - 1)),
  }))
}

async function playCall(timed: TimedStep, call: DemoCall, stage: Stage): Promise<void> {
  const payload = { tool_name: call.tool, tool_input: call.input }
  const { decision } = await dispatch(timed, { event: 'pre_tool_use', payload }, stage)
  const runs = decision.kind === 'allow' || (decision.kind === 'ask' && call.isApproved === true)
  if (!runs) return
  const result = { ...payload, tool_input: decision.input ?? call.input, tool_response: call.output }
  const later = { ...timed, at: timed.at + TOOL_MS }
  await dispatch(later, { event: 'post_tool_use', payload: result }, stage)
}

interface PlayedEvent {
  readonly event: string
  readonly payload: Readonly<Record<string, unknown>>
}

function dispatch(timed: TimedStep, { event, payload }: PlayedEvent, { dispatcher, caller }: Stage) {
  return dispatcher.dispatch(caller, { event, payload, envelope: envelopeOf(timed) }, { time: timed.at })
}

function envelopeOf({ session, step, index }: TimedStep): Envelope {
  const { id, agent, folder, steps } = session
  const turn = steps.slice(0, index + 1).filter(isPrompt).length
  return {
    agent,
    host: agent,
    session: id,
    cwd: folder,
    ...(turn === 0 ? {} : { turn: `${id}-turn-${turn}` }),
    ...(step.kind === 'call' ? { toolCall: `${id}-call-${index}` } : {}),
    ...(step.lane === undefined ? {} : { lane: step.lane, parentAgent: agent, depth: 1 }),
  }
}

function isPrompt(step: DemoStep): boolean {
  return step.kind === 'event' && step.event === 'user_prompt_submit'
}
