import { catalogue } from '../engine/events/catalogue.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { command, exitCodes } from './command.ts'
import { formatTable, printOutput } from './output.ts'
import { withLocalHooks } from './with-local-hooks.ts'

export const listCommand = command({
  args: { event: { type: 'string', description: 'only this event' } },
  run: (args) =>
    withLocalHooks(args, ({ hooks, files }) => {
      const names = args.event === undefined ? Object.keys(catalogue) : [args.event]
      const events = names
        .map((event) => ({ event, hooks: hooks.list(event as 'pre_tool_use') }))
        .filter((each) => each.hooks.length > 0)
      const off = hooks.list().filter((hook) => hook.enabled === false)
      const found = files.status().filter(({ state }) => state !== 'none')
      if (args.json) printOutput({ events, off, files: found })
      else
        printOutput(
          [...events.map(eventText), disabledText(off), filesText(found)]
            .filter((part) => part !== '')
            .join('\n\n'),
        )
      return found.some(({ state }) => state === 'untrusted') ? exitCodes.untrusted : exitCodes.ok
    }),
})

function eventText({ event, hooks }: { event: string; hooks: readonly HookDefinition[] }): string {
  const rows = hooks.map((hook, index) => [
    `  ${index + 1}.`,
    hook.id ?? '',
    hook.handler_type,
    conditionText(hook),
    flagsText(hook),
  ])
  return `${event}\n${formatTable(rows)}`
}

function conditionText({ matcher, if_expr, match }: HookDefinition): string {
  const parts = [matcher, if_expr, match === undefined ? undefined : JSON.stringify(match)]
  return parts.filter((part) => part !== undefined).join(' and ') || 'always'
}

function flagsText(hook: HookDefinition): string {
  const flags = (['locked', 'shadow', 'recheck', 'transform'] as const).filter((flag) => hook[flag])
  return [...flags, ...(hook.priority ? [`priority ${hook.priority}`] : [])].join(', ')
}

function disabledText(hooks: readonly HookDefinition[]): string {
  if (hooks.length === 0) return ''
  const rows = hooks.map(({ id = '', event, disabled_reason }) => [
    '  -',
    id,
    event,
    disabled_reason ?? 'enabled: false',
  ])
  return `disabled\n${formatTable(rows)}`
}

function filesText(files: readonly { file: string | undefined; state: string; hooks: number }[]): string {
  if (files.length === 0) return 'no hook file found; `hookhelm init` writes one'
  const rows = files.map(({ file = '', state, hooks }) => [`  ${state}`, file, `${hooks} hooks in use`])
  return `files\n${formatTable(rows)}`
}
