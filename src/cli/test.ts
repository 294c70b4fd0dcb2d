import type { Decision } from '../engine/core/decision.ts'
import { HookError } from '../engine/core/error.ts'
import { createHooks } from '../engine/dispatch/hooks.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { command } from './command.ts'
import { formatTable, printOutput } from './output.ts'
import { exitCodeOf, payloadArgs, sendEvent } from './send-event.ts'
import { withLocalHooks } from './with-local-hooks.ts'

export const testCommand = command({
  args: {
    hook: { type: 'positional', description: 'hook id', required: true },
    event: { type: 'string', description: "event name (default: the hook's own event)" },
    ...payloadArgs,
  },
  run: (args) =>
    withLocalHooks(args, async ({ hooks, handlers }) => {
      const found = hooks.list().find(({ id }) => id === args.hook)
      if (found === undefined) throw new HookError('config.unknown_hook', `there is no hook ${args.hook}`)
      // The hook runs without the others, enabled, and without guards that remember earlier calls.
      const isolated = createHooks({ handlers, breaker: false })
      isolated.add({
        ...found,
        enabled: true,
        cooldown_ms: 0,
        dedup_window_ms: 0,
        event: args.event ?? found.event,
      })
      const decision = await sendEvent(isolated, args.event ?? found.event, {
        ...args,
        options: { trace: true },
      })
      const result = testResult(found, decision)
      printOutput(
        args.json
          ? result
          : formatTable(Object.entries(result).map(([key, value]) => [key, formatValue(value)])),
      )
      return exitCodeOf(decision)
    }),
})

/** The same fields as the gateway's `hooks.test`. */
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
    updatedInput: decision.input,
    context: decision.context,
    ...facts,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function formatValue(value: unknown): string {
  if (typeof value === 'number') return value.toFixed(Number.isInteger(value) ? 0 : 1)
  return typeof value === 'string' ? value : JSON.stringify(value)
}
