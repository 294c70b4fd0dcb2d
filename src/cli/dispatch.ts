import { command } from './command.ts'
import { explainDecision } from './explain-decision.ts'
import { printOutput } from './output.ts'
import { eventArgs, exitCodeOf, sendEvent } from './send-event.ts'
import { withLocalHooks } from './with-local-hooks.ts'

export const dispatchCommand = command({
  args: eventArgs,
  run: (args) =>
    withLocalHooks(args, async ({ hooks }) => {
      const decision = await sendEvent(hooks, args.event, args)
      printOutput(decision)
      return exitCodeOf(decision)
    }),
})

export const explainCommand = command({
  args: eventArgs,
  run: (args) =>
    withLocalHooks(args, async ({ hooks }) => {
      const decision = await sendEvent(hooks, args.event, { ...args, options: { trace: true } })
      printOutput(args.json ? decision : explainDecision(decision))
      return exitCodeOf(decision)
    }),
})
