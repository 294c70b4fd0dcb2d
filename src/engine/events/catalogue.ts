import { compactionEvents } from './compaction.ts'
import { modelEvents } from './model.ts'
import { openclawRows, sameMoment } from './openclaw/rows.ts'
import { promptEvents } from './prompt.ts'
import { runEvents } from './run.ts'
import { sessionEvents } from './session.ts'
import { subagentEvents } from './subagent.ts'
import { taskEvents } from './task.ts'
import { toolEvents } from './tool.ts'
import { workspaceEvents } from './workspace.ts'

/** OpenClaw's hooks without those that are a lifecycle event under another name; there the name is an alias. */
function ownMoments<R extends object>(rows: R): Omit<R, keyof typeof sameMoment> {
  const own = Object.entries(rows).filter(([name]) => !Object.hasOwn(sameMoment, name))
  return Object.fromEntries(own) as Omit<R, keyof typeof sameMoment>
}

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
  ...ownMoments(openclawRows),
})

export type Catalogue = typeof catalogue
