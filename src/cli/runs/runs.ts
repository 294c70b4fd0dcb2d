import { type CommandDef, defineCommand } from 'citty'
import { nounCommand } from '../remote/method-command.ts'
import { saveBlueprintCommand } from './save-blueprint.ts'
import { watchRunCommand } from './watch-run.ts'

/** The methods `blueprints.*`, with one verb for creating and replacing. */
export function blueprintsCommand(): CommandDef {
  const { subCommands } = nounCommand('blueprints', ['list', 'show', 'delete'])
  const save = {
    ...saveBlueprintCommand,
    meta: { name: 'save', description: 'Creates an agent, or replaces the one with its name.' },
  }
  return defineCommand({ subCommands: { ...subCommands, save } })
}

/** The methods `runs.*`, and a live timeline. */
export function runsCommand(): CommandDef {
  const { subCommands } = nounCommand('runs', ['start', 'list', 'show', 'stop', 'resume'])
  const watch = {
    ...watchRunCommand,
    meta: { name: 'watch', description: 'Prints what a run does until it has ended, then its timeline.' },
  }
  return defineCommand({ subCommands: { ...subCommands, watch } })
}
