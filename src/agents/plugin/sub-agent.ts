import { isRecord } from '../../engine/core/check.ts'
import type { NativePayload } from '../agent-adapter.ts'
import { textField } from '../translate/read-fields.ts'

/** Whose sub-agent a session is, as the plugin found out. */
export interface SubAgent {
  /** The session that everything began with. */
  readonly root: string
  readonly parent: string
  /** Its own session. */
  readonly lane: string
}

export function subAgentOf({ sub }: NativePayload): SubAgent | undefined {
  if (!isRecord(sub)) return undefined
  const [root, parent, lane] = [textField(sub, 'root'), textField(sub, 'parent'), textField(sub, 'lane')]
  return root === undefined || parent === undefined || lane === undefined ? undefined : { root, parent, lane }
}

/** The lane of the agent that started this one: none where that is the agent itself. */
export function laneAbove({ root, parent }: SubAgent): string | undefined {
  return parent === root ? undefined : parent
}
