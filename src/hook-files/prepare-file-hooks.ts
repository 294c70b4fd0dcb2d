import type { EventRow } from '../engine/core/event.ts'
import { hookTitle } from '../engine/core/hook-title.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import type { ResolveEventName } from '../engine/events/event-names.ts'
import type { HookDefinition } from '../engine/hook-definition.ts'
import { answerInFiles } from './answer-mode.ts'
import type { HookFolder } from './hook-folders.ts'
import { resolveCatalogueName } from './read/read-hook-file.ts'
import { type ValueProblem, valueProblem } from './read/value-problem.ts'

/**
 * Fills in what the engine needs: id, scope, how printed text is read and, for the managed file, `locked`. Ids stay the same across reloads, so
 * that guards and breakers keep their state. Ids of managed hooks get a prefix that no other file may use, and those of a folder that
 * a call touches get its path, as does their name.
 */
export function prepareFileHooks(
  definitions: readonly HookDefinition[],
  folder: HookFolder,
  resolve: ResolveEventName = resolveCatalogueName,
): HookDefinition[] {
  const managed = folder.level === 'managed'
  // Another folder may have the same pack as the agent's own.
  const prefix = managed ? 'managed' : folder.otherFolder
  const prefixed = (id: string) => (prefix === undefined ? id : `${prefix}/${id}`)
  const taken = new Set(definitions.flatMap(({ id }) => (id === undefined ? [] : [prefixed(id)])))
  return definitions.map((definition) => ({
    ...definition,
    id:
      definition.id === undefined
        ? uniqueId(`${folder.label}/${slug(definition.name ?? '') || resolve(definition.event)}`, taken)
        : prefixed(definition.id),
    // Before it gets an id: records, questions and messages name the hook.
    name: titleOf({ ...definition, event: resolve(definition.event) }, folder),
    scope: definition.scope ?? 'tenant',
    ...answerInFiles(definition, rowOf(definition.event, resolve)),
    ...(managed ? { locked: true } : {}),
  }))
}

function titleOf(definition: HookDefinition, { otherFolder }: HookFolder): string {
  const title = hookTitle(definition)
  return otherFolder === undefined ? title : `${title} (${otherFolder})`
}

function rowOf(event: string, resolve: ResolveEventName): Pick<EventRow, 'mode' | 'onFailure'> | undefined {
  const rows: Readonly<Record<string, Pick<EventRow, 'mode' | 'onFailure'>>> = catalogue
  const name = resolve(event)
  return Object.hasOwn(rows, name) ? rows[name] : undefined
}

function uniqueId(preferred: string, taken: Set<string>): string {
  let id = preferred
  for (let count = 2; taken.has(id); count++) id = `${preferred}-${count}`
  taken.add(id)
  return id
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
}

/** Refuses `locked` and ids that begin with `managed/` in files that are not managed by an administrator. */
export function checkManagedFields(
  definitions: readonly HookDefinition[],
  { level }: HookFolder,
): ValueProblem[] {
  if (level === 'managed') return []
  return definitions.flatMap((definition, index): ValueProblem[] => [
    ...(definition.locked
      ? [valueProblem(['hooks', index, 'locked'], 'only the managed file may lock hooks')]
      : []),
    ...(definition.id?.startsWith('managed/')
      ? [
          valueProblem(
            ['hooks', index, 'id'],
            'only hooks of the managed file have ids that begin with managed/',
          ),
        ]
      : []),
  ])
}
