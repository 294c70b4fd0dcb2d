import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agentAdapters } from '../../../src/agents/table.ts'
import { shared } from '../../gateway/running.fixture.ts'
import { openLines } from '../../gateway/socket.fixture.ts'

const gateway = shared(() => ({ functions: { stop: () => ({ kind: 'block', reason: 'no' }) } }))

const keys = [
  ...['tool_name', 'tool_input', 'tool_response', 'session_id', 'cwd', 'agent_id', 'prompt', 'toolName'],
  ...[
    'toolArgs',
    'sessionId',
    'mcp_context',
    'conversation_id',
    'workspace_roots',
    'input',
    'output',
    'hook',
  ],
  ...['event', 'context', 'toolCallId', 'sessionKey', 'parentID', '__proto__', 'constructor', 'args'],
]
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('/tmp', '/', 'Bash', 's'.repeat(600), '\0', '\ud800', 'apply_patch', '*** Add File: x'),
)
const native = fc.array(fc.tuple(fc.constantFrom(...keys), value), { maxLength: 8 }).map(Object.fromEntries)

describe.each(agentAdapters)('$name', (agent) => {
  test('gets a reply or an error for whatever it sends, and nothing else', async () => {
    const { socket = '' } = gateway()
    const open = () => openLines(socket, { hookhelm: 1, agent: agent.name })
    let lines = open()
    let id = 0
    const events = [...Object.keys(agent.events), 'Unknown', '__proto__', 'toString']
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...events), native, async (event, sent) => {
        id += 1
        lines.send({ id, event, native: sent })
        const answer = await lines.next()
        // What is no JSON that we take has no id, and is the end of the connection.
        if (answer.id === null) lines = open()
        expect([id, null]).toContain(answer.id)
        expect(Object.keys(answer)).toEqual(['id', expect.stringMatching(/^(reply|error)$/)])
        expect(answer.error ?? {}).not.toMatchObject({ code: 'gateway.internal' })
      }),
      { numRuns: 150 },
    )
    expect(gateway().logged.filter(({ name }) => name === 'gateway.failed')).toEqual([])
  })
})
