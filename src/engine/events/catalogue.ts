import { compactionEvents } from './compaction.ts'
import { modelEvents } from './model.ts'
import { promptEvents } from './prompt.ts'
import { runEvents } from './run.ts'
import { sessionEvents } from './session.ts'
import { subagentEvents } from './subagent.ts'
import { taskEvents } from './task.ts'
import { toolEvents } from './tool.ts'
import { workspaceEvents } from './workspace.ts'

/** Every event Hookhelm knows. */
export const catalogue = Object.freeze({
  ...sessionEvents,
  ...promptEvents,
  ...toolEvents,
  ...subagentEvents,
  ...compactionEvents,
  ...taskEvents,
  ...runEvents,
  ...modelEvents,
  ...workspaceEvents,
})

export type Catalogue = typeof catalogue
