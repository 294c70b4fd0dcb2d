import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { trustStore } from '../../../src/hook-files/trust.ts'
import type { Running } from '../../gateway/running.fixture.ts'
import { openLines } from '../../gateway/socket.fixture.ts'

/** Sends one event after the other, as a coding agent would, and answers whatever line comes back. */
export function agent({ socket = '' }: Pick<Running, 'socket'>, name = 'claude-code') {
  const lines = openLines(socket, { hookhelm: 1, agent: name })
  let id = 0
  // biome-ignore lint/suspicious/noExplicitAny: whatever is answered, for tests to look into
  return async (event: string, native: unknown): Promise<any> => {
    id += 1
    lines.send({ id, event, native })
    return await Promise.race([lines.next(), lines.closed.then(() => 'closed')])
  }
}

/** A hook file in a folder, and somebody who trusts it. */
export function hookFile(home: string, folder: string, text: string): string {
  const file = join(folder, '.hookhelm', 'hooks.yaml')
  mkdirSync(join(folder, '.hookhelm'), { recursive: true })
  writeFileSync(file, text)
  trustStore(join(home, 'trust.json')).trust(file, text)
  return file
}

/** The text of one hook that says no. */
export const refusing = (reason: string, more = '') =>
  `hooks:\n  - event: pre_tool_use\n    name: guard\n    handler_type: script\n${more}    config: { source: 'function handle() { return { decision: "block", reason: "${reason}" } }' }\n`

export const bash = (cwd: string, command = 'ls') => ({
  session_id: 's1',
  cwd,
  tool_name: 'Bash',
  tool_input: { command },
})
