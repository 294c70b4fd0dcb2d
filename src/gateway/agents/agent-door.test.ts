import { expect, test } from 'vitest'
import { findAdapter } from '../../agents/table.ts'
import type { Envelope } from '../../engine/core/context.ts'
import { createSessionFolders } from '../../stored-hooks/snapshots/session-folders.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { AgentDoor } from './agent-door.ts'

test('the envelope names the folder where the session began, also after the agent changed its directory', async () => {
  const seen: (Envelope | undefined)[] = []
  const dispatcher = {
    async dispatch(_: unknown, { envelope }: { envelope?: Envelope }) {
      seen.push(envelope)
      return { eventId: 'e', decision: { kind: 'allow' } }
    },
  }
  const clock = fakeClock()
  const door = new AgentDoor({
    dispatcher: dispatcher as never,
    sessionFolders: createSessionFolders({ keepSessionFolder: async (_, __, folder) => folder }, clock),
    clock,
    log: () => {},
  })
  const caller = { tenant: 't' } as never
  const call = (cwd: string, isLocal: boolean) => {
    const native = { session_id: 's', cwd, tool_name: 'Bash', tool_input: { command: 'ls' } }
    return door.decide(caller, findAdapter('claude-code')!, { event: 'PreToolUse', native }, { isLocal })
  }
  await call('/usr', true)
  await call('/usr/lib', true)
  await call('/usr/lib', false)
  expect(seen.map((envelope) => envelope?.project)).toEqual(['/usr', '/usr', undefined])
})
