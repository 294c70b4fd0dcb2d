import { expect, test } from 'vitest'
import type { AgentAdapter } from '../../agents/agent-adapter.ts'
import { claudeCodeAdapter } from '../../agents/claude-code/adapter.ts'
import { copilotCliAdapter } from '../../agents/copilot-cli/adapter.ts'
import { hooklessRecord } from './event-record.ts'

const context = { tenant: 't', text: undefined, attempt: 1, find: () => undefined }
const command = `echo ${'x'.repeat(100_000)}`

function recorded(adapter: AgentAdapter, event: string, native: Readonly<Record<string, unknown>>) {
  const { payload, envelope } = adapter.read(event, native)
  const dispatch = { event: 'pre_tool_use', id: 'e', payload, envelope, decision: { kind: 'allow' } } as const
  const { request } = hooklessRecord(dispatch, context)
  return { bytes: request.length - JSON.stringify(native).length, ...JSON.parse(request) }
}

const claude = { session_id: 's', hook_event_name: 'PreToolUse', transcript_path: '/t.jsonl' }
const copilot = { sessionId: 's', toolName: 'bash' }

test.each([
  [claudeCodeAdapter, { ...claude, tool_name: 'Bash', tool_input: { command } }, claude],
  [copilotCliAdapter, { ...copilot, toolArgs: JSON.stringify({ command }) }, copilot],
])(
  'what a coding agent sent is recorded once, with every field that the payload has not',
  (adapter, native, own) => {
    const { bytes, payload, envelope } = recorded(adapter, 'preToolUse', native)
    expect(payload.tool_input).toEqual({ command })
    expect(bytes).toBeLessThan(1_000)
    expect(envelope.raw).toEqual(own)
  },
)
