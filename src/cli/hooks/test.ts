import { localShell } from '../../app/local-shell.ts'
import type { Decision } from '../../engine/core/decision.ts'
import { HookError, isHookError } from '../../engine/core/errors/error.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { command, type Flags } from '../command.ts'
import { formatTable, printOutput } from '../output.ts'
import {
  type ConnectionArgs,
  clientOptions,
  connectionArgs,
  isNoGateway,
  withGateway,
} from '../remote/connection.ts'
import { readData } from '../remote/data.ts'
import { type EventArgs, exitCodeOf, payloadArgs, readPayloadArgs, sendEvent } from './send-event.ts'
import { withLocalHooks } from './with-local-hooks.ts'

export const testCommand = command({
  args: {
    hook: { type: 'positional', description: 'id or name of the hook', required: false },
    event: { type: 'string', description: "event name (default: the hook's own event)" },
    file: { type: 'string', description: 'try this definition, YAML or JSON, in the gateway; - for stdin' },
    data: { type: 'string', description: 'the same as text' },
    ...payloadArgs,
    ...connectionArgs,
  },
  async run(args) {
    const definition = readData(args)
    const hasDefinition = Object.keys(definition).length > 0
    if (args.hook === undefined && !hasDefinition)
      throw new HookError('input.empty', 'no hook to test', {
        hint: 'Name a hook (`hookhelm list` shows them), or give a definition with --file or --data.',
      })
    const local = hasDefinition ? undefined : await testLocalHook(args)
    const { result, decision } = local ?? (await testInGateway(args, definition))
    printOutput(
      args.json
        ? result
        : formatTable(Object.entries(result).map(([key, value]) => [key, formatValue(value)])),
    )
    return exitCodeOf({ kind: decision })
  },
})

type TestArgs = ConnectionArgs & EventArgs & Flags<'hook' | 'event'>

interface TestOutcome {
  readonly decision: Decision['kind']
  readonly result: Readonly<Record<string, unknown>>
}

/** Runs a hook of the hook files of this folder; undefined if they have no such hook. */
function testLocalHook(args: TestArgs): Promise<TestOutcome | undefined> {
  return withLocalHooks(args, async ({ hooks, handlers }) => {
    const found = hooks.list().find(({ id, name }) => id === args.hook || name === args.hook)
    if (found === undefined) return undefined
    // The hook runs without the others, enabled, and without guards that remember earlier calls.
    const isolated = createHooks({ handlers, shell: localShell, breaker: false })
    isolated.add({
      ...found,
      enabled: true,
      cooldown_ms: 0,
      dedup_window_ms: 0,
      event: args.event ?? found.event,
    })
    const event = args.event ?? found.event
    const decision = await sendEvent(isolated, event, readPayloadArgs(args), args, { trace: true })
    return { decision: decision.kind, result: testResult(found, decision) }
  })
}

/** Runs a stored hook, or a definition that is not stored yet, in the gateway. */
async function testInGateway(
  args: TestArgs,
  definition: Readonly<Record<string, unknown>>,
): Promise<TestOutcome> {
  const { tool_name, tool_input, prompt, session_id, ...others } = readPayloadArgs(args)
  const sampleEvent = {
    ...others,
    ...definedFields({ toolName: tool_name, toolInput: tool_input, rawInput: prompt, sessionId: session_id }),
  }
  const event = args.event === undefined ? {} : { event: args.event }
  const config = { ...definition, ...event }
  const params = {
    ...(args.hook === undefined ? {} : { hookId: args.hook }),
    ...(Object.keys(config).length === 0 ? {} : { config }),
    sampleEvent,
  }
  try {
    // The gateway checks the definition and the sample.
    const answer = await withGateway(clientOptions(args), (client) =>
      client.call('hooks.test', params as never),
    )
    const { trace: _, ...result } = answer.result
    return { decision: kindOf(result.decision), result }
  } catch (error) {
    if (args.hook === undefined || !isUnknownHook(error)) throw error
    throw new HookError(
      'config.unknown_hook',
      `there is no hook ${args.hook} in the hook files of this folder` +
        `${isNoGateway(error) ? ', and no gateway runs here' : ' or in the gateway'}`,
      { hint: 'List the hooks with `hookhelm list`.' },
    )
  }
}

function isUnknownHook(error: unknown): boolean {
  return isNoGateway(error) || (isHookError(error) && error.code === 'gateway.not_found')
}

/** A hook that failed is no block and no question, and the exit code says the same. */
function kindOf(decision: string): Decision['kind'] {
  return decision === 'block' || decision === 'ask' ? decision : 'allow'
}

/** The same fields as the gateway's `hooks.test`. */
function testResult(hook: HookDefinition, decision: Decision): Record<string, unknown> {
  const [traced] = decision.trace?.hooks ?? []
  const [execution] = traced?.executions ?? []
  const { stdout, stderr, http_status, matched: effect, ...facts } = execution?.facts ?? {}
  const fields = {
    hook: hook.id,
    decision: decision.kind,
    matched: traced?.matched,
    because: traced?.because ?? effect,
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
