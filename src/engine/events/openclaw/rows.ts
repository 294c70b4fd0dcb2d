import { agentRows } from './agent.ts'
import { gatewayRows } from './gateway.ts'
import { installRows } from './install.ts'
import { messageRows } from './message.ts'
import { modelRows } from './model.ts'
import { promptRows } from './prompt.ts'
import { sessionRows } from './session.ts'
import { subagentRows } from './subagent.ts'
import { toolRows } from './tool.ts'

/** All 36 hooks of OpenClaw. How its runner differs from the engine is in `src/openclaw/hook-rules.ts`. */
export const openclawRows = {
  ...agentRows,
  ...promptRows,
  ...modelRows,
  ...messageRows,
  ...toolRows,
  ...sessionRows,
  ...subagentRows,
  ...gatewayRows,
  ...installRows,
}

/** OpenClaw's hooks that are a lifecycle event under another name, and the name of that event. */
export const lifecycleEquivalents = {
  before_tool_call: 'pre_tool_use',
  after_tool_call: 'post_tool_use',
  session_start: 'session_start',
  session_end: 'session_end',
  before_compaction: 'pre_compact',
  after_compaction: 'post_compact',
  subagent_spawning: 'subagent_start',
  subagent_ended: 'subagent_stop',
  before_agent_finalize: 'stop',
} as const satisfies Partial<Record<keyof typeof openclawRows, string>>
