import type { Envelope } from '../../src/engine/core/context.ts'
import { HookError } from '../../src/engine/core/errors/error.ts'
import type { HookConditions } from '../../src/engine/core/hook.ts'
import { createEffectsReader } from '../../src/engine/match/effects/call-effects.ts'
import { explainMatch, type MatchReport } from '../../src/engine/match/explain-match.ts'
import type { MatchInput } from '../../src/engine/match/match-part.ts'
import { compileMatcher } from '../../src/engine/match/matcher.ts'
import { analyzeShell } from '../../src/shell/analyze-shell.ts'

export function toolCallInput(tool: string, toolInput: unknown = {}, envelope: Envelope = {}): MatchInput {
  const payload = { tool_name: tool, tool_input: toolInput }
  return { event: 'pre_tool_use', name: tool, payload, envelope }
}

export function eventInput(payload: unknown, envelope: Envelope = {}): MatchInput {
  return { event: 'notification', name: '', payload, envelope }
}

export function matches(hook: HookConditions, input: MatchInput): boolean {
  const report = reportMatch(hook, input)
  if (report.result === 'failed') throw report.error
  return report.result === 'matched'
}

export function reportMatch(hook: HookConditions, input: MatchInput): MatchReport {
  const effects = createEffectsReader(analyzeShell)
  return explainMatch(compileMatcher(hook, input.event), { ...input, effects })
}

export function matchesName(hook: HookConditions, name: string): boolean {
  return compileMatcher(hook, 'pre_tool_use').byName(name)
}

export function catchHookError(run: () => unknown): HookError {
  try {
    run()
  } catch (error) {
    if (error instanceof HookError) return error
    throw error
  }
  throw new HookError('config.field', 'nothing was refused')
}

export function compileError(hook: HookConditions): HookError {
  return catchHookError(() => compileMatcher(hook, 'pre_tool_use'))
}
