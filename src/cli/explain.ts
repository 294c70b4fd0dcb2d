import { command } from './command.ts'
import { explained } from './explained.ts'
import { withLocal } from './local.ts'
import { print } from './output.ts'
import { eventArgs, exitCodeOf, send } from './send.ts'

export const explainCommand = command({
  name: 'explain',
  about: 'Send an event through the hooks and say why it was decided so',
  args: eventArgs,
  run: (args) =>
    withLocal(args, async ({ hooks }) => {
      const decision = await send(hooks, args.event, args, { trace: true })
      print(args.json ? decision : explained(decision))
      return exitCodeOf(decision)
    }),
})
