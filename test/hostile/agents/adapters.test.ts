import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ClientOutcome, CommandAgentAdapter } from '../../../src/agents/agent-adapter.ts'
import { agentAdapters } from '../../../src/agents/table.ts'
import { patchedFiles } from '../../../src/agents/translate/apply-patch.ts'
import { deliverDecision } from '../../../src/agents/translate/outcome.ts'
import { toCanonical, toNative } from '../../../src/agents/translate/tool-names.ts'
import type { Decision } from '../../../src/engine/core/decision.ts'
import { isHookError } from '../../../src/engine/core/errors/error.ts'
import { decisionLine } from '../../../src/gateway/doors/socket/line-protocol.ts'
import { parseJson } from '../../../src/safe/json.ts'

const commands = agentAdapters.filter((agent): agent is CommandAgentAdapter => agent.transport === 'command')
const replyOf = clientReader()

/** The very functions of the client, which has no door to ask them through. */
function clientReader(): (line: string) => unknown {
  const source = readFileSync(
    new URL('../../../src/agents/client/hookhelm-hook.cjs', import.meta.url),
    'utf8',
  )
  const part = (name: string) => {
    const from = source.indexOf(`function ${name}(`)
    return source.slice(from, source.indexOf('\n}\n', from) + 2)
  }
  return new Function(`${part('stringAt')}${part('replyOf')}return replyOf`)()
}

const names = [
  ...['tool_name', 'tool_input', 'tool_response', 'tool_use_id', 'session_id', 'cwd', 'agent_id', 'prompt'],
  ...['toolName', 'toolArgs', 'toolInput', 'toolResult', 'sessionId', 'agentId', 'parentAgentId', 'error'],
  ...['mcp_context', 'llm_request', 'llm_response', 'prompt_response', 'conversation_id', 'command'],
  ...['mcp_server_name', 'result_json', 'tool_output', 'workspace_roots', 'duration', 'native_tool_name'],
  ...['parent_conversation_id', 'hook_event_name', 'turn_id', 'prompt_id', 'source', '__proto__', 'name'],
]

const text = fc.string({ unit: 'binary', maxLength: 12 })
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  text,
  fc.constantFrom(parseJson('12345678901234567890'), parseJson('[1e999]'), parseJson('{"a":-0}')),
  fc.constantFrom('apply_patch', 'Bash', 'bash', 'read_file', 'Shell', 'constructor', '__proto__'),
  fc.constantFrom('*** Begin Patch\n*** Add File: a\n', '{"file_path":"x"}', '{"path":1,"target_file":2}'),
  fc.dictionary(fc.constantFrom('command', 'path', 'file_path', 'input', 'server_name', 'tool_name'), text),
)
const native = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...names), text), value), { maxLength: 10 })
  .map((pairs) => JSON.parse(JSON.stringify(Object.fromEntries(pairs))) as Record<string, unknown>)
const decision: fc.Arbitrary<Decision> = fc.record(
  {
    kind: fc.constantFrom('allow' as const, 'ask' as const, 'block' as const),
    reason: text,
    message: text,
    input: value,
    context: fc.array(text, { maxLength: 2 }),
    grant: fc.constant(true),
  },
  { requiredKeys: ['kind'] },
) as fc.Arbitrary<Decision>

describe.each(commands)('$name', (agent) => {
  const events = [...Object.keys(agent.events), 'Unknown', 'constructor']

  test('whatever it sends is read or refused with a code, and whatever is decided is a reply its client takes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...events), native, decision, (event, sent, decided) => {
        try {
          agent.read(event, sent)
        } catch (thrown) {
          if (!isHookError(thrown)) throw thrown
        }
        const honours = Object.hasOwn(agent.events, event) ? (agent.events[event]?.honours ?? []) : []
        const { outcome } = deliverDecision(decided, honours, agent.title)
        let reply = '{"exit":0,"stdout":"","stderr":""}'
        try {
          reply = JSON.stringify(agent.reply(event, outcome, sent))
        } catch (thrown) {
          if (!isHookError(thrown)) throw thrown
        }
        const line = decisionLine(1, `{"reply":${reply}}`).trimEnd()
        expect(replyOf(line)).toBeDefined()
      }),
      { numRuns: 2_000 },
    )
  })

  test('a block is never silence, whatever the payload and the words', () => {
    const blocking = events.filter((event) => agent.events[event]?.honours?.includes('block'))
    fc.assert(
      fc.property(fc.constantFrom(...blocking), native, text, (event, sent, message) => {
        const { outcome } = deliverDecision({ kind: 'block', reason: message }, ['block'], agent.title)
        const { exit, stdout, stderr } = agent.reply(event, outcome, sent)
        expect(exit === 0 ? JSON.stringify(JSON.parse(stdout)) : stderr.trim()).not.toMatch(/^(\{\})?$/)
      }),
      { numRuns: 500 },
    )
  })

  test('a changed input is never lost: it is in the reply, or the call is refused', () => {
    const rewriting = events.filter(
      (event) =>
        agent.events[event]?.event === 'pre_tool_use' && agent.events[event]?.honours?.includes('rewrite'),
    )
    fc.assert(
      fc.property(fc.constantFrom(...rewriting), native, value, (event, sent, patch) => {
        const changed: ClientOutcome = { kind: 'pass', message: 'm', input: patch }
        let said = 'refused'
        try {
          const { exit, stdout } = agent.reply(event, changed, sent)
          if (exit === 0) said = stdout
        } catch (thrown) {
          if (!isHookError(thrown)) throw thrown
        }
        expect(said.trim().length).toBeGreaterThan(2)
      }),
      { numRuns: 500 },
    )
  })

  test('arguments come back as they went, for every tool of the table', () => {
    for (const [tool, { keys = {} }] of Object.entries(agent.tools))
      fc.assert(
        fc.property(
          fc.dictionary(
            fc.oneof(fc.constantFrom('a', ...Object.keys(keys), ...Object.values(keys)), text),
            text,
          ),
          (input) => {
            let there: ReturnType<typeof toCanonical>
            try {
              there = toCanonical(agent.tools, tool, input)
            } catch (thrown) {
              if (isHookError(thrown)) return
              throw thrown
            }
            const back = toNative(agent.tools, tool, there.tool_input, input)
            expect(toCanonical(agent.tools, tool, back).tool_input).toEqual(there.tool_input)
            // What the tool reads is what it read before.
            for (const key of Object.keys(keys))
              if (Object.hasOwn(input, key)) expect(back[key]).toBe(input[key])
          },
        ),
        { numRuns: 100 },
      )
  })
})

test.each<[string, object, object]>([
  [
    'a file that was read',
    { type: 'text', file: { filePath: '/a', content: 'SECRET', numLines: 1 } },
    { type: 'text', file: { filePath: '', content: '***', numLines: 1 } },
  ],
  [
    'what was found',
    { mode: 'files_with_matches', filenames: ['SECRET'], numFiles: 1 },
    { mode: 'files_with_matches', filenames: ['***'], numFiles: 1 },
  ],
  [
    'the answer of a sub-agent',
    {
      status: 'completed',
      prompt: 'SECRET',
      content: [{ type: 'text', text: 'SECRET' }],
      toolsUsed: ['SECRET'],
    },
    { status: 'completed', prompt: '', content: [{ type: 'text', text: '***' }], toolsUsed: [''] },
  ],
  ['something else', { a: { b: ['SECRET', { c: 'SECRET' }] } }, { a: { b: ['', { c: '' }] }, stdout: '***' }],
])('a text in place of %s hides what is inside of it too', (_, tool_response, updatedToolOutput) => {
  const [claudeCode] = commands
  const reply = claudeCode?.reply(
    'PostToolUse',
    { kind: 'pass', message: 'm', input: '***' },
    { tool_response },
  )
  expect(JSON.parse(reply?.stdout ?? '').hookSpecificOutput.updatedToolOutput).toEqual(updatedToolOutput)
})

test.each(['\u0085', '\u00a0', '\u2028', '\u3000', '\r', '\t', '\v', ' '])(
  'a blank hides no file of a patch: %j',
  (blank) => {
    const patch = `*** Begin Patch\n*** Update File: a.ts\n@@\n${blank}*** Update File: .env${blank}\n@@\n*** End Patch`
    expect(patchedFiles(patch).paths).toEqual(['a.ts', '.env'])
  },
)
