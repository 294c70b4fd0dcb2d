import type { Envelope } from '../core/context.ts'
import { HookError } from '../core/error.ts'
import type { HookConditions } from '../core/hook.ts'
import { compileMatcher } from './compile.ts'
import type { MatchInput } from './matcher.ts'

export function call(tool: string, toolInput: unknown = {}, envelope: Envelope = {}): MatchInput {
  const payload = { tool_name: tool, tool_input: toolInput }
  return { event: 'pre_tool_use', name: tool, payload, envelope }
}

export function moment(payload: unknown, envelope: Envelope = {}): MatchInput {
  return { event: 'notification', name: '', payload, envelope }
}

export function matches(hook: HookConditions, input: MatchInput): boolean {
  const matcher = compileMatcher(hook, input.event)
  return matcher.byName(input.name) && (matcher.when?.(input) ?? true)
}

export function named(hook: HookConditions, name: string): boolean {
  return compileMatcher(hook, 'pre_tool_use').byName(name)
}

export function refusal(run: () => unknown): HookError {
  try {
    run()
  } catch (error) {
    if (error instanceof HookError) return error
    throw error
  }
  throw new HookError('config.field', 'nothing was refused')
}

export function refused(hook: HookConditions): HookError {
  return refusal(() => compileMatcher(hook, 'pre_tool_use'))
}
