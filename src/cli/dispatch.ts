import { command } from './command.ts'
import { withLocal } from './local.ts'
import { print } from './output.ts'
import { eventArgs, exitCodeOf, send } from './send.ts'

export const dispatchCommand = command({
  name: 'dispatch',
  about: 'Send an event through the hooks; the decision comes out as JSON',
  args: eventArgs,
  run: (args) =>
    withLocal(args, async ({ hooks }) => {
      const decision = await send(hooks, args.event, args)
      print(decision)
      return exitCodeOf(decision)
    }),
})
