import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { catalogue } from '../engine/events/catalogue.ts'
import { printHookFile } from './print-hook-file.ts'
import { readHookText } from './read/read-hook-file.ts'
import type { HookFile } from './schema/hook-file.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('yes', 'null', '1e3', '- a', '#', '  x\n y\n', 'a: b', '\u2028', '<<'),
)
const name = text.filter((given) => given !== '')
const policy = fc.constantFrom('block' as const, 'allow' as const)
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')))
const command = fc.oneof(
  fc.record({ command: name.filter((line) => line.trim() !== ''), cwd: name }, { requiredKeys: ['command'] }),
  fc.record({ exec: fc.tuple(name, text) }),
)
const outcome = fc.constantFrom('success', 'failed', 'timeout', 'unknown')

const optional = {
  name: text,
  description: text,
  scope: fc.constantFrom('global', 'tenant'),
  agent_ids: fc.array(text),
  matcher: fc.constantFrom('', '^Bash$', 'Bash(git *)', '(?i)a|b'),
  if_expr: fc.constantFrom('', 'tool_name == "a: b"', 'depth > 0\n  && true'),
  match: fc.record(
    {
      glob: fc.constantFrom('*', 'mcp__*'),
      names: fc.array(fc.constantFrom('Edit', 'Bash(rm *)')),
      fields: fc.dictionary(
        name.filter((key) => key !== '__proto__'),
        fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
      ),
      outcome: fc.oneof(outcome, fc.array(outcome)),
    },
    { requiredKeys: [] },
  ),
  timeout_ms: fc.integer({ min: 1, max: 600_000 }),
  on_error: policy,
  on_timeout: policy,
  on_invalid: policy,
  priority: fc.integer({ min: -1_000_000, max: 1_000_000 }),
  enabled: fc.boolean(),
  disabled_reason: text,
  locked: fc.boolean(),
  recheck: fc.boolean(),
  shadow: fc.boolean(),
  transform: fc.boolean(),
  cooldown_ms: fc.integer({ min: 0, max: 86_400_000 }),
  dedup_window_ms: fc.integer({ min: 0, max: 86_400_000 }),
  max_invocations_per_turn: fc.integer({ min: 1, max: 1_000_000 }),
  budget: fc.record({ name: text, limit: fc.nat() }),
}
const event = fc.constantFrom(...Object.keys(catalogue))
const hook = fc.oneof(
  fc.record(
    { event, handler_type: fc.constant('command'), config: command, ...optional },
    { requiredKeys: ['event', 'handler_type', 'config'] },
  ),
  fc.record(
    { event, handler_type: fc.constant('own'), config: json, ...optional },
    { requiredKeys: ['event', 'handler_type'] },
  ),
)
const file = fc.record(
  {
    version: fc.constant(1),
    $schema: text,
    hooks: fc
      .array(hook, { maxLength: 4 })
      .map((hooks) => hooks.map((each, index) => ({ ...each, id: `hook ${index}` }))),
  },
  { requiredKeys: ['version', 'hooks'] },
)

describe('printing a hook file', () => {
  test('and reading it again gives the same file, whatever it says', () => {
    fc.assert(
      fc.property(file, fc.array(text, { maxLength: 2 }), (given, notes) => {
        // Generated from plain values, so each field has the type its schema gives it.
        const written = JSON.parse(JSON.stringify(given)) as HookFile
        expect(readHookText(printHookFile(written, notes), 'hooks.yaml')).toEqual({
          kind: 'good',
          file: written,
        })
      }),
      { numRuns: 300 },
    )
  })

  test('leaves a text that people go on editing', () => {
    const printed = printHookFile(
      {
        hooks: [
          {
            event: 'pre_tool_use',
            handler_type: 'command',
            matcher: '^Bash$',
            config: { command: 'one\ntwo\n' },
          },
          { event: 'stop', handler_type: 'http', if_expr: 'true', config: { url: 'https://a.example' } },
        ],
      },
      ['one thing\nhas no equivalent'],
    )
    expect(printed).toBe(`# yaml-language-server: $schema=https://unpkg.com/hookhelm/schema/hooks.schema.json
# Hooks: what runs when an agent starts, receives a prompt, calls a tool or ends.
# Every field is described in the schema above; \`hookhelm validate\` checks this file.
#
# Please review:
# - one thing has no equivalent
version: 1

hooks:
  - event: pre_tool_use
    handler_type: command
    matcher: ^Bash$
    config:
      command: |
        one
        two

  - event: stop
    handler_type: http
    if_expr: "true"
    config:
      url: https://a.example
`)
  })
})
