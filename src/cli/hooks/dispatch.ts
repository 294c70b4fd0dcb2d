import { localShell } from '../../app/local-shell.ts'
import type { Decision } from '../../engine/core/decision.ts'
import type { ShellEffects } from '../../engine/core/shell-effects.ts'
import type { Hooks } from '../../engine/dispatch/hooks.ts'
import { createEffectsReader } from '../../engine/match/effects/call-effects.ts'
import { command } from '../command.ts'
import { printOutput } from '../output.ts'
import { explainDecision } from './explain-decision.ts'
import {
  cliEnvelope,
  type EventArgs,
  eventArgs,
  exitCodeOf,
  readPayloadArgs,
  sendEvent,
} from './send-event.ts'
import { withLocalHooks } from './with-local-hooks.ts'

export const dispatchCommand = command({
  args: eventArgs,
  run(args) {
    const payload = readPayloadArgs(args)
    return withLocalHooks({ cwd: args.cwd, call: payload }, async ({ hooks }) => {
      const decision = await sendEvent(hooks, args.event, payload, args)
      printOutput(decision)
      return exitCodeOf(decision)
    })
  },
})

export const explainCommand = command({
  args: eventArgs,
  run(args) {
    const payload = readPayloadArgs(args)
    return withLocalHooks({ cwd: args.cwd, call: payload }, async ({ hooks }) => {
      const { decision, effects } = await sendAndExplain(hooks, payload, args)
      printOutput(args.json ? { ...decision, effects } : explainDecision(decision, effects))
      return exitCodeOf(decision)
    })
  },
})

/** Dispatches an event, with a trace that shows every condition term by term. */
async function sendAndExplain(
  hooks: Hooks,
  payload: unknown,
  args: EventArgs & { readonly event: string },
): Promise<{ readonly decision: Decision; readonly effects?: ShellEffects }> {
  const { trace, ...decision } = await sendEvent(hooks, args.event, payload, args, { trace: true })
  if (trace === undefined) return { decision }
  const readEffects = createEffectsReader(localShell)
  const effects = readEffects(payload, cliEnvelope(args)).all()
  const hasEffects = Object.values(effects).some((list) => list.length > 0)
  const { explainConditions } = await import('../../stored-hooks/saving/explain-conditions.ts')
  const definitions = hooks.list()
  const explained = explainConditions(trace, (id) => definitions.find((hook) => hook.id === id), {
    input: {
      ...{ event: trace.event, name: trace.subject, payload, envelope: cliEnvelope(args) },
      effects: readEffects,
    },
    steps: decision.steps ?? [],
    time: trace.time,
  })
  return { decision: { ...decision, trace: explained }, ...(hasEffects ? { effects } : {}) }
}
