import { catalogue } from '../engine/events/catalogue.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { withLocal } from './local.ts'
import { print, table } from './output.ts'

export const listCommand = command({
  name: 'list',
  about: 'Show the hooks of each event in the order they run, and where they come from',
  args: { event: { type: 'string', description: 'only this event' } },
  run: (args) =>
    withLocal(args, ({ hooks, files }) => {
      const names = args.event === undefined ? Object.keys(catalogue) : [args.event]
      const chains = names.map((event) => ({ event, hooks: hooks.list(event as 'pre_tool_use') }))
      const used = chains.filter((chain) => chain.hooks.length > 0)
      const off = hooks.list().filter((hook) => hook.enabled === false)
      const places = files.status().filter(({ state }) => state !== 'none')
      if (args.json) print({ events: used, off, files: places })
      else
        print(
          [...used.map(chainText), offText(off), filesText(places)]
            .filter((part) => part !== '')
            .join('\n\n'),
        )
      return places.some(({ state }) => state === 'untrusted') ? exitCodes.untrusted : exitCodes.ok
    }),
})

function chainText({ event, hooks }: { event: string; hooks: readonly HookDefinition[] }): string {
  return `${event}\n${table(hooks.map((hook, place) => [`  ${place + 1}.`, hook.id ?? '', hook.handler_type, condition(hook), traits(hook)]))}`
}

function condition({ matcher, if_expr, match }: HookDefinition): string {
  const parts = [matcher, if_expr, match === undefined ? undefined : JSON.stringify(match)]
  return parts.filter((part) => part !== undefined).join(' and ') || 'always'
}

function traits(hook: HookDefinition): string {
  const flags = (['locked', 'shadow', 'recheck', 'transform'] as const).filter((flag) => hook[flag])
  return [...flags, ...(hook.priority ? [`priority ${hook.priority}`] : [])].join(', ')
}

function offText(off: readonly HookDefinition[]): string {
  if (off.length === 0) return ''
  const rows = off.map(({ id = '', event, disabled_reason }) => [
    '  -',
    id,
    event,
    disabled_reason ?? 'enabled: false',
  ])
  return `switched off\n${table(rows)}`
}

function filesText(files: readonly { file: string | undefined; state: string; hooks: number }[]): string {
  if (files.length === 0) return 'no hook file; hookhelm init writes one'
  return `files\n${table(files.map(({ file = '', state, hooks }) => [`  ${state}`, file, `${hooks} hooks in use`]))}`
}
