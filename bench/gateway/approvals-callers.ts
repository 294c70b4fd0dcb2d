import { createClient } from '../../src/client/index.ts'

/** Callers that wait for a person, in a process of their own: `approvals-callers.ts <address> <count> <milliseconds>`. */
const [address = '', count = '', waitMs = ''] = process.argv.slice(2)
const client = createClient(JSON.parse(address))
await Promise.all(
  Array.from({ length: Number(count) }, (_, index) =>
    client.dispatch(
      {
        event: 'pre_tool_use',
        payload: { tool_name: 'Bash', tool_input: { command: 'git push' } },
        envelope: { session: `held-${index}` },
      },
      { waitMs: Number(waitMs) },
    ),
  ),
)
