import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gateway, openclaw, opencode, place, type Wire } from './plugins.fixture.ts'

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The only answers that let a call go on: nothing, or other arguments. */
const lets = (reply: unknown, parts: readonly string[]) =>
  isRecord(reply) &&
  Object.entries(reply).every(([key, value]) =>
    key === 'args'
      ? isRecord(value)
      : parts.includes(key) && typeof value === 'string' && value.trim() !== '',
  )

const parts = fc.record(
  {
    block: fc.oneof(fc.string(), fc.jsonValue()),
    ask: fc.oneof(fc.string(), fc.jsonValue()),
    args: fc.oneof(fc.object(), fc.jsonValue()),
    context: fc.string(),
    output: fc.jsonValue(),
    kind: fc.string(),
  },
  { requiredKeys: [] },
)

describe('whatever comes back', () => {
  let answer: (wire: Wire) => void = () => {}

  test('OpenCode: only a clear answer lets a call go on', async () => {
    const where = place('opencode', { within: 1_000 })
    await gateway(where, (_, wire) => answer(wire))
    const hooks = await opencode(where)
    await fc.assert(
      fc.asyncProperty(fc.oneof(parts, fc.jsonValue()), async (reply) => {
        answer = (wire) => wire.reply(reply)
        const output = { args: { command: 'ls' } }
        const input = { tool: 'bash', sessionID: 's', callID: 'c' }
        const hasRun = await hooks['tool.execute.before']?.(input, output).then(
          () => true,
          () => false,
        )
        const sent = JSON.parse(JSON.stringify(reply))
        expect(hasRun).toBe(lets(sent, []))
        if (hasRun) expect(output.args).toEqual(sent.args ?? { command: 'ls' })
      }),
      { numRuns: 300 },
    )
  })

  test('OpenCode: no bytes but a clear answer let a call go on', async () => {
    const where = place('opencode', { within: 1_000, spool: '' })
    await gateway(where, (_, wire) => answer(wire))
    const hooks = await opencode(where)
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), fc.boolean(), async (bytes, hasEnd) => {
        answer = (wire) => {
          wire.raw(bytes)
          if (hasEnd) wire.raw('\n')
          wire.socket.end()
        }
        const input = { tool: 'bash', sessionID: 's', callID: 'c' }
        await expect(hooks['tool.execute.before']?.(input, { args: {} })).rejects.toThrow(/^hookhelm: /)
      }),
      { numRuns: 100 },
    )
  })

  test('OpenClaw: only a clear answer lets a call go on', async () => {
    const where = place('openclaw', { within: 1_000 })
    await gateway(where, (_, wire) => answer(wire))
    const { handlers } = await openclaw(where)
    await fc.assert(
      fc.asyncProperty(fc.oneof(parts, fc.jsonValue()), async (reply) => {
        answer = (wire) => wire.reply(reply)
        const result = await handlers.before_tool_call?.({ toolName: 'exec', params: {} }, {})
        const sent = JSON.parse(JSON.stringify(reply))
        expect(result?.block !== true).toBe(lets(sent, ['ask']))
        if (isRecord(sent) && sent.ask !== undefined && result?.block !== true)
          expect(result).toHaveProperty('requireApproval')
      }),
      { numRuns: 300 },
    )
  })
})
