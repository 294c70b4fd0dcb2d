import type { ModelMessage } from 'ai'
import { type AgentHooks, messageOf } from '../../sdk/agent-hooks.ts'
import type { NewSessionEvent } from '../run-events.ts'

const CHARACTERS_PER_TOKEN = 4
/** The newest messages stay as they are. */
const KEPT_MESSAGES = 4
const REMOVED = '[removed to save space: an older tool result]'

interface CompactionParts {
  readonly limitTokens: number
  emit(event: NewSessionEvent): void
}

/** Compacts the messages of a model that grew beyond the limit, unless a `pre_compact` hook blocks it. */
export function createCompaction(agentHooks: AgentHooks, { limitTokens, emit }: CompactionParts) {
  return async (messages: readonly ModelMessage[]): Promise<ModelMessage[] | undefined> => {
    const before = estimateTokens(messages)
    if (before <= limitTokens || !messages.slice(0, -KEPT_MESSAGES).some(hasResults)) return undefined
    const decision = await agentHooks.gate('pre_compact', { trigger: 'auto' })
    if (decision.kind !== 'allow') {
      emit({ event_type: 'compaction_blocked', data: { reason: messageOf(decision) } })
      return undefined
    }
    const compacted = removeOldResults(messages, limitTokens / 2, decision.context ?? [])
    const after = estimateTokens(compacted)
    const compact_summary = `older tool results removed: about ${before} tokens before, ${after} after`
    agentHooks.observe('post_compact', { trigger: 'auto', compact_summary })
    emit({ event_type: 'compacted', data: { tokens_before: before, tokens_after: after } })
    return compacted
  }
}

function estimateTokens(messages: readonly ModelMessage[]): number {
  return Math.ceil(JSON.stringify(messages).length / CHARACTERS_PER_TOKEN)
}

function hasResults(message: ModelMessage): boolean {
  return message.role === 'tool' && !JSON.stringify(message.content).includes(REMOVED)
}

/**
 * Replaces the results of tools, oldest first, until the rest fits. The task, the calls and what the model said stay, so
 * that the model knows what it did and can call a tool again.
 */
function removeOldResults(
  messages: readonly ModelMessage[],
  limitTokens: number,
  context: readonly string[],
): ModelMessage[] {
  const compacted = [...messages]
  let note = [REMOVED, ...context].join('\n')
  for (let index = 0; index < messages.length - KEPT_MESSAGES; index++) {
    const message = compacted[index]
    if (message?.role !== 'tool' || !hasResults(message)) continue
    const content = message.content.map((part) =>
      part.type === 'tool-result' ? { ...part, output: { type: 'text' as const, value: note } } : part,
    )
    compacted[index] = { ...message, content }
    note = REMOVED
    if (estimateTokens(compacted) <= limitTokens) break
  }
  return compacted
}
