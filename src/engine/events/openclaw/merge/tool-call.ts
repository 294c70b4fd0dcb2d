import { isRecord } from '../../../core/check.ts'
import type { MergeResults, ReadVerdict } from '../../../core/event.ts'
import { last, sticky } from '../../../core/merge.ts'

/**
 * The first approval request wins and carries the name of its plugin. What a person is asked to approve must not
 * change behind their back, so from then on only that plugin may still change the params.
 */
export const mergeToolCall: MergeResults = (before, next, by) => {
  const asked = before?.requireApproval
  const asker = isRecord(asked) ? asked.pluginId : undefined
  const frozen = Boolean(asker) && asker !== by
  return {
    params: frozen ? before?.params : last.merge(before?.params, next.params),
    block: sticky.merge(before?.block, next.block),
    blockReason: last.merge(before?.blockReason, next.blockReason),
    requireApproval: asked ?? stamped(next.requireApproval, by),
  }
}

/** A block beats an approval request that came before it. */
export const readToolCall: ReadVerdict = (result) => {
  const asked = result.requireApproval
  if (result.block)
    return { kind: 'block', reason: words(result.blockReason, 'a hook blocked this tool call') }
  if (!isRecord(asked)) return undefined
  const reason = words(asked.title, 'a hook asks for approval')
  return { kind: 'ask', reason, message: words(asked.description, reason) }
}

function stamped(request: unknown, pluginId: string): object | undefined {
  return request ? Object.assign({}, request, { pluginId }) : undefined
}

function words(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value ? value : otherwise
}
