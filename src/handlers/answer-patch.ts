import { isRecord } from '../engine/core/check.ts'
import { placesOf, type Reply } from './answer-dialects.ts'

interface Moment {
  readonly event: string
  readonly payload: unknown
}

/** The input or output that a reply wants instead, whichever harness's word it uses; `{}` and null change nothing. */
export function patchOf(reply: Reply, { event, payload }: Moment): unknown {
  const { specific, decision } = placesOf(reply)
  const candidates =
    event === 'post_tool_use'
      ? [
          specific.updatedToolOutput,
          specific.updatedMCPToolOutput,
          reply.updatedToolOutput,
          reply.updated_mcp_tool_output,
          reply.modifiedResult,
        ]
      : [
          specific.updatedInput,
          decision.updatedInput,
          reply.updatedInput,
          reply.updated_input,
          reply.modifiedArgs,
          mergedInput(specific.tool_input, payload),
          reply.modifiedPrompt,
        ]
  const patch = candidates.find((candidate) => !isEmpty(candidate))
  return event === 'user_prompt_submit' && isRecord(patch) ? patch.prompt : patch
}

export function isEmpty(patch: unknown): boolean {
  return patch === undefined || patch === null || (isRecord(patch) && Object.keys(patch).length === 0)
}

/** Gemini lays the new arguments over the old ones. */
function mergedInput(input: unknown, payload: unknown): unknown {
  if (isEmpty(input) || !isRecord(input)) return input
  const before = isRecord(payload) && isRecord(payload.tool_input) ? payload.tool_input : {}
  return { ...before, ...input }
}
