import { agentId } from '../../access/agent-id.ts'
import { type ErrorCode, errorTable, isErrorCode } from '../../engine/core/errors/error-table.ts'
import { handlerErrors, isHandlerCode } from '../../engine/core/errors/handler-errors.ts'
import type { Execution } from '../../engine/core/records/sink.ts'
import type { Trace } from '../../engine/core/records/trace.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { createHooks } from '../../engine/dispatch/hooks.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { createEffectsReader } from '../../engine/match/effects/call-effects.ts'
import { explainMatch } from '../../engine/match/explain-match.ts'
import { compileMatcher } from '../../engine/match/matcher.ts'
import type { HookParts } from '../../methods/method-parts.ts'
import type { DryRun, SampleEvent } from '../hook-test-methods.ts'
import { explainTerms } from './explain-conditions.ts'

/** Runs one hook alone, matcher first, with handlers that count and charge nothing. Writes nothing. */
export async function dryRun(
  hook: HookDefinition,
  sample: SampleEvent,
  { parts, tenant }: { parts: HookParts; tenant: string },
): Promise<DryRun> {
  const { dryHandlers, host, shell, clock } = parts
  const hooks = createHooks({ handlers: dryHandlers, host, shell, clock, breaker: false })
  // Runs a disabled or shadow hook too.
  hooks.add({ ...hook, enabled: true, shadow: false })
  const event = hook.event as 'pre_tool_use'
  const payload = payloadOf(event, sample)
  const envelope = envelopeOf(sample, tenant)
  const { input: patch, trace: full } = await hooks.dispatch(event, payload as never, envelope, {
    trace: true,
  })
  const trace = full && withoutDetails(full)
  const own = trace?.hooks[0]
  if (trace === undefined || own === undefined)
    throw new TypeError('a dispatch that was asked for its trace has one')
  const last = own.executions.at(-1)
  const facts = last?.facts ?? {}
  return {
    decision: last?.decision ?? 'allow',
    matched: own.matched !== false,
    ...conditions(hook, {
      ...{ event, name: trace.subject, payload, envelope },
      effects: createEffectsReader(shell),
    }),
    durationMs: last?.durationMs ?? trace.durationMs,
    stdout: textOf(facts.stdout),
    stderr: textOf(facts.stderr),
    ...(typeof facts.http_status === 'number' ? { statusCode: facts.http_status } : {}),
    ...(typeof facts.exit_code === 'number' ? { exitCode: facts.exit_code } : {}),
    reason: last?.reason ?? own.because ?? '',
    ...(patch === undefined ? {} : { updatedInput: patch }),
    ...failure(last),
    trace,
  }
}

/** The result of each condition. One that cannot be evaluated has none. */
function conditions(
  { matcher, if_expr }: HookDefinition,
  input: Parameters<typeof explainMatch>[1],
): Pick<DryRun, 'matcherMatched' | 'celResult' | 'terms'> {
  const holds = (options: Pick<HookDefinition, 'matcher' | 'if_expr'>) => {
    const { result } = explainMatch(compileMatcher(options, input.event), input)
    return result === 'failed' ? undefined : result === 'matched'
  }
  const matcherMatched = matcher ? holds({ matcher }) : undefined
  const celResult = if_expr ? holds({ if_expr }) : undefined
  return {
    ...definedFields({ matcherMatched, celResult }),
    ...(if_expr ? { terms: explainTerms(if_expr, input) } : {}),
  }
}

function failure(last: Execution | undefined): Pick<DryRun, 'error' | 'code' | 'hint'> {
  if (last?.code === undefined) return {}
  const { code, reason = '' } = last
  return { error: reason, code, ...hintOf(code) }
}

function hintOf(code: ErrorCode): { hint?: string } {
  if (isErrorCode(code)) return { hint: errorTable[code] }
  return isHandlerCode(code) ? { hint: handlerErrors[code] } : {}
}

/** Adds only what the event requires. The event's own check refuses a payload that still lacks something. */
function payloadOf(event: keyof typeof catalogue, sample: SampleEvent): Record<string, unknown> {
  const { toolName, toolInput, rawInput, sessionId: _, agentId: __, depth: ___, ...rest } = sample
  const { subject, rewrites } = catalogue[event]
  const isToolCall = subject === 'tool_name' && rewrites?.startsWith('tool_')
  const isPrompt: boolean = (rewrites as string | undefined) === 'prompt'
  return {
    ...(isToolCall ? { tool_name: '', tool_input: {} } : {}),
    ...(isPrompt ? { prompt: '' } : {}),
    ...rest,
    ...definedFields({ tool_name: toolName, tool_input: toolInput, prompt: rawInput }),
  }
}

function envelopeOf({ sessionId, agentId: agent, depth }: SampleEvent, tenant: string) {
  const id = agent === undefined ? undefined : agentId(tenant, agent)
  return { tenant, ...definedFields({ session: sessionId, agent, agentId: id, depth }) }
}

/** The raw result or error of a handler is for sinks, which encrypt it. */
function withoutDetails(trace: Trace): Trace {
  const hooks = trace.hooks.map((hook) => ({
    ...hook,
    executions: hook.executions.map(({ detail: _, ...execution }) => execution),
  }))
  return { ...trace, hooks }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
