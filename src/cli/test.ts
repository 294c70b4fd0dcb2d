import type { Decision } from '../engine/core/decision.ts'
import { HookError } from '../engine/core/error.ts'
import { createHooks } from '../engine/dispatch/hooks.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { command } from './command.ts'
import { withLocal } from './local.ts'
import { print, table } from './output.ts'
import { exitCodeOf, send } from './send.ts'

export const testCommand = command({
  name: 'test',
  about: 'Run one hook alone: does it match, and what does it answer',
  args: {
    hook: { type: 'positional', description: 'the id of the hook', required: true },
    event: { type: 'string', description: 'the event; the one the hook listens to otherwise' },
    payload: { type: 'string', description: 'JSON object; stdin otherwise' },
    tool: { type: 'string', description: 'tool name' },
    input: { type: 'string', description: 'tool input as JSON' },
  },
  run: (args) =>
    withLocal(args, async ({ hooks, handlers }) => {
      const found = hooks.list().find(({ id }) => id === args.hook)
      if (found === undefined) throw new HookError('config.unknown_hook', `there is no hook ${args.hook}`)
      // Alone, and switched on: nothing else speaks, and nothing is remembered.
      const alone = createHooks({ handlers, breaker: false })
      alone.add({
        ...found,
        enabled: true,
        cooldown_ms: 0,
        dedup_window_ms: 0,
        event: args.event ?? found.event,
      })
      const decision = await send(alone, args.event ?? found.event, args, { trace: true })
      const result = testResult(found, decision)
      print(args.json ? result : table(Object.entries(result).map(([key, value]) => [key, shown(value)])))
      return exitCodeOf(decision)
    }),
})

/** The fields of the gateway's dry run. */
function testResult(hook: HookDefinition, decision: Decision): Record<string, unknown> {
  const [traced] = decision.trace?.hooks ?? []
  const [execution] = traced?.executions ?? []
  const { stdout, stderr, http_status, ...facts } = execution?.facts ?? {}
  const fields = {
    hook: hook.id,
    decision: decision.kind,
    matched: traced?.matched,
    because: traced?.because,
    durationMs: execution?.durationMs,
    reason: decision.reason ?? execution?.reason,
    code: decision.code ?? execution?.code,
    stdout,
    stderr,
    statusCode: http_status,
    updatedInput: decision.patch,
    context: decision.context,
    ...facts,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function shown(value: unknown): string {
  if (typeof value === 'number') return value.toFixed(Number.isInteger(value) ? 0 : 1)
  return typeof value === 'string' ? value : JSON.stringify(value)
}
