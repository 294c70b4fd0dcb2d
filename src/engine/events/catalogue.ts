import { compactionEvents } from './compaction.ts'
import { modelEvents } from './model.ts'
import { lifecycleEquivalents, openclawRows } from './openclaw/rows.ts'
import { promptEvents } from './prompt.ts'
import { runEvents } from './run.ts'
import { sessionEvents } from './session.ts'
import { subagentEvents } from './subagent.ts'
import { taskEvents } from './task.ts'
import { toolEvents } from './tool.ts'
import { workspaceEvents } from './workspace.ts'

/** OpenClaw's hooks without those that are a lifecycle event under another name: their names are aliases. */
function withoutEquivalents<R extends object>(rows: R): Omit<R, keyof typeof lifecycleEquivalents> {
  const own = Object.entries(rows).filter(([name]) => !Object.hasOwn(lifecycleEquivalents, name))
  return Object.fromEntries(own) as Omit<R, keyof typeof lifecycleEquivalents>
}

/** The built-in events by name. `docs/events.md` describes each. */
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
  ...withoutEquivalents(openclawRows),
})

/** The type of the built-in events: payload, result fields and mode of each. */
export type Catalogue = typeof catalogue
