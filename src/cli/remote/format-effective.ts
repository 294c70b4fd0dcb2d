import { hookLabel } from '../../engine/core/hook-title.ts'
import { visibleLine } from '../../engine/core/values/visible-text.ts'
import type { Methods } from '../../gateway/methods.ts'
import type { EffectiveFile, EffectiveHook } from '../../stored-hooks/saving/effective-hook-schema.ts'
import { formatTable } from '../output.ts'

type Shorten = (file: string) => string

/** Formats the hooks in force for people: the chain of each event, then the hook files. */
export function formatEffective(
  { event, folder, problem, hooks, files }: Methods['hooks.effective']['result'],
  shorten: Shorten = (file) => file,
): string {
  const events = Map.groupBy(hooks, (hook) => hook.event)
  const none = event === null ? 'no hook is in force here' : `no hook listens to ${event} here`
  const parts = [
    problem === '' ? '' : `EVERY GATE BLOCKS HERE, because the hooks cannot be loaded:\n  ${problem}`,
    ...(events.size === 0 ? [none] : [...events].map(([name, rows]) => chainText(name, rows, shorten))),
    folder === null && files.length === 0
      ? 'hook files do not count in this gateway'
      : filesText(files, shorten),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function chainText(event: string, hooks: readonly EffectiveHook[], shorten: Shorten): string {
  const rows = hooks.map((hook) => [
    hook.position === null ? '  -' : `  ${hook.position}.`,
    hookLabel(hook.name, hook.id),
    hook.handler_type,
    hook.applies_to,
    sourceText(hook, shorten),
    notesText(hook),
  ])
  return `${event} (${hooks[0]?.mode ?? ''})\n${formatTable(rows)}`
}

function sourceText({ source }: EffectiveHook, shorten: Shorten): string {
  const { kind, file, line, scope } = source
  if (kind === 'database') return `stored, ${scope}`
  if (kind === 'builtin') return 'built in'
  if (file === undefined) return `${kind} file`
  return `${shorten(file)}${line === undefined ? '' : `:${line}`}`
}

/** What is special about a hook: why it does not decide, whether it is locked, for whom it is. */
function notesText(hook: EffectiveHook): string {
  const { state, locked, priority, agents, printed = '' } = hook
  const notes = [
    stateText(hook),
    locked ? 'locked' : '',
    printed,
    priority === 0 ? '' : `priority ${priority}`,
    agents.length === 0 || state === 'other_agent' ? '' : `only for ${agents.join(', ')}`,
  ]
  return notes.filter((note) => note !== '').join('; ')
}

function stateText({ state, why, mode }: EffectiveHook): string {
  if (state === 'failing') return `FAILING: ${why}`
  if (state !== 'observes') return why
  // The heading says that the event is only observed.
  return mode === 'observe' ? '' : `observes: ${why}`
}

const fileStates: Readonly<Record<EffectiveFile['state'], string>> = {
  none: 'none',
  in_force: 'in force',
  changed: 'CHANGED',
  gone: 'GONE',
  pending: 'NOT TRUSTED',
  broken: 'BROKEN',
}

function filesText(files: readonly EffectiveFile[], shorten: Shorten): string {
  const found = files.filter(({ state }) => state !== 'none')
  if (found.length === 0) return 'no hook file found; `hookhelm init` writes one'
  const rows = found.map(({ state, file, folder, hooks }) => [
    `  ${fileStates[state]}`,
    shorten(file ?? folder),
    `${hooks} ${hooks === 1 ? 'hook' : 'hooks'} in force`,
  ])
  const problems = found.flatMap(({ problem }) => problem.split('\n').filter((line) => line !== ''))
  return ['hook files', formatTable(rows), ...problems.map((line) => `  ! ${visibleLine(line)}`)].join('\n')
}
