import { dirname } from 'node:path'
import { agentId } from '../../access/agent-id.ts'
import { agentName } from '../../access/agent-names.ts'
import type { EventRow } from '../../engine/core/event.ts'
import { definedFields } from '../../engine/core/values/defined-fields.ts'
import { type Edition, runsCommands } from '../../engine/core/values/edition.ts'
import { type Catalogue, catalogue } from '../../engine/events/catalogue.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { describeConditions } from '../../engine/match/describe-conditions.ts'
import { textNote } from '../../hook-files/answer-mode.ts'
import type { HookFileReport } from '../../hook-files/hook-file-report.ts'
import { resolveCatalogueName } from '../../hook-files/read/read-hook-file.ts'
import { maskConfig } from '../../secrets/config-secrets.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import type { EffectiveFile, EffectiveHook } from './effective-hook-schema.ts'

/** The hooks that the next dispatch of a tenant in a folder sees, and the hook files that belong to it. */
export interface HooksInForce {
  /** Undefined if no hooks can be loaded. */
  readonly snapshot: Pick<Snapshot, 'hooks' | 'rows' | 'find' | 'broken'> | undefined
  /** Why every gate blocks: a hook file or the store cannot be read. Empty otherwise. */
  readonly problem: string
  readonly files: readonly HookFileReport[]
}

type EffectiveState = EffectiveHook['state']

export interface EffectiveRequest {
  readonly tenant: string
  readonly edition: Edition
  /** Only this event. */
  readonly event: string | undefined
  readonly agent: string | undefined
  /** Only this hook, by id or name, with its definition. */
  readonly hookId?: string | undefined
}

type CatalogueName = keyof Catalogue & string

export const isCatalogueName = (name: string): name is CatalogueName => Object.hasOwn(catalogue, name)

const rowOf = (event: CatalogueName): EventRow => catalogue[event]

/** The chain of every event, in the order of running, followed by the hooks of the event that do not run. */
export function listEffectiveHooks(inForce: HooksInForce, request: EffectiveRequest): EffectiveHook[] {
  const names = request.event === undefined ? Object.keys(catalogue) : [request.event]
  const rows = names.filter(isCatalogueName).flatMap((event) => eventChain(event, inForce, request))
  const { hookId } = request
  return hookId === undefined ? rows : rows.filter(({ id, name }) => id === hookId || name === hookId)
}

/** The hooks of several folders as one list: each once, behind the hook that it follows in its own chain. */
export function joinChains(chains: readonly (readonly EffectiveHook[])[]): EffectiveHook[] {
  const keyOf = ({ event, id, source: { file = '' } }: EffectiveHook) => [event, id, file].join('\0')
  const known = new Map<string, Link>()
  const start: Link = { next: undefined }
  for (const chain of chains) {
    let last = start
    for (const hook of chain) {
      const key = keyOf(hook)
      const link: Link = known.get(key) ?? { hook, next: last.next }
      if (!known.has(key)) last.next = link
      known.set(key, link)
      last = link
    }
  }
  const joined: EffectiveHook[] = []
  for (let link = start.next; link !== undefined; link = link.next)
    if (link.hook !== undefined) joined.push(link.hook)
  return [...Map.groupBy(joined, ({ event }) => event).values()].flatMap(numbered)
}

interface Link {
  readonly hook?: EffectiveHook
  next: Link | undefined
}

function eventChain(
  event: CatalogueName,
  { snapshot, files }: HooksInForce,
  request: EffectiveRequest,
): EffectiveHook[] {
  const listed = snapshot?.hooks.list(event) ?? []
  const off = (snapshot?.hooks.list() ?? []).filter((hook) => hook.event === event && !listed.includes(hook))
  const waiting = files
    .filter(({ state }) => state === 'pending')
    .flatMap(({ hooks }) => hooks)
    .filter(({ definition }) => resolveCatalogueName(definition.event) === event)
  const rows = [...listed, ...off].map((hook) => toRow(event, hook, { snapshot, files, request }))
  const held = waiting.map(({ definition }) => ({
    ...toRow(event, definition, { snapshot: undefined, files, request }),
    state: 'untrusted' as const,
    why: 'its file has no effect until a person trusts it',
  }))
  return numbered([...rows, ...held])
}

/** Gives every hook that runs its place, and puts the others behind. */
function numbered(rows: readonly EffectiveHook[]): EffectiveHook[] {
  const runs = ({ state }: EffectiveHook) =>
    state !== 'off' && state !== 'other_agent' && state !== 'untrusted'
  const running = rows.filter(runs).map((row, index) => ({ ...row, position: index + 1 }))
  return [...running, ...rows.filter((row) => !runs(row)).map((row) => ({ ...row, position: null }))]
}

interface RowContext {
  readonly snapshot: HooksInForce['snapshot']
  readonly files: readonly HookFileReport[]
  readonly request: EffectiveRequest
}

function toRow(event: CatalogueName, hook: HookDefinition, context: RowContext): EffectiveHook {
  const { id = '', name, matcher, if_expr, match, agent_ids = [], priority = 0, enabled = true } = hook
  const { snapshot, request } = context
  const stored = snapshot?.rows.get(id)
  const { mode } = rowOf(event)
  return {
    event,
    mode,
    position: null,
    id,
    name: name ?? null,
    applies_to: describeConditions(hook),
    source: sourceOf(hook, context),
    handler_type: stored?.handler_type ?? hook.handler_type,
    matcher: matcher ?? null,
    if_expr: if_expr ?? null,
    ...(match === undefined ? {} : { match }),
    agents: agent_ids.map((agent) => agentName(request.tenant, agent)),
    priority,
    enabled,
    disabled_reason: hook.disabled_reason ?? null,
    shadow: hook.shadow ?? false,
    locked: hook.locked ?? false,
    ...definedFields({ printed: textNote(stored ?? hook, rowOf(event)) }),
    ...stateOf(event, hook, context),
    ...(request.hookId === undefined ? {} : { definition: { ...hook, config: maskConfig(hook.config) } }),
  }
}

function sourceOf(
  { id = '', scope }: HookDefinition,
  { snapshot, files }: RowContext,
): EffectiveHook['source'] {
  const stored = snapshot?.rows.get(id)
  if (stored !== undefined)
    return { kind: stored.source === 'builtin' ? 'builtin' : 'database', scope: stored.scope }
  const folder = snapshot?.find(id)?.folder
  const has = ({ hooks }: HookFileReport) => hooks.some(({ definition }) => definition.id === id)
  const report = files.find((file) => (folder === undefined ? has(file) : file.folder === folder))
  if (report === undefined) return { kind: 'user', ...(scope === undefined ? {} : { scope }) }
  const line = report.hooks.find(({ definition }) => definition.id === id)?.line
  return {
    kind: report.level,
    ...(report.file === undefined ? {} : { file: report.file }),
    ...(line === undefined ? {} : { line }),
    ...(report.level === 'repository' ? { folder: dirname(report.folder) } : {}),
  }
}

function stateOf(
  event: CatalogueName,
  hook: HookDefinition,
  { snapshot, request }: RowContext,
): { state: EffectiveState; why: string } {
  const { id = '', agent_ids = [] } = hook
  const { tenant, agent, edition } = request
  const handlerType = snapshot?.rows.get(id)?.handler_type ?? hook.handler_type
  if (hook.enabled === false) return whyOff(hook, event)
  if (agent !== undefined && agent_ids.length > 0 && !appliesTo(agent_ids, tenant, agent)) {
    const names = agent_ids.map((each) => agentName(tenant, each)).join(', ')
    return { state: 'other_agent', why: `only for ${names}` }
  }
  const broken = snapshot?.broken.get(id)
  if (handlerType === 'command' && !runsCommands(edition))
    return { state: 'failing', why: 'command hooks do not run in the standard edition' }
  if (broken !== undefined) return { state: 'failing', why: `cannot be loaded: ${broken}` }
  if (hook.shadow) return { state: 'shadow', why: 'shadow: its answer is recorded and not applied' }
  return whyObserving(hook, event)
}

function whyOff(
  { disabled_reason: reason }: HookDefinition,
  event: CatalogueName,
): { state: EffectiveState; why: string } {
  if (reason === 'breaker') {
    const isGate = rowOf(event).mode === 'gate'
    const effect = isGate ? '; its policy answers until it is switched on again' : ''
    return { state: isGate ? 'failing' : 'off', why: `its breaker tripped after repeated failures${effect}` }
  }
  if (reason === 'edition') return { state: 'off', why: 'command hooks do not run in the standard edition' }
  return { state: 'off', why: `switched off${reason === undefined ? '' : ` (${reason})`}` }
}

function whyObserving(hook: HookDefinition, event: CatalogueName): { state: EffectiveState; why: string } {
  const row = rowOf(event)
  if (row.mode === 'observe') return { state: 'observes', why: `${event} is only observed` }
  if (row.awaitsOnlyTransformers && hook.transform !== true)
    return { state: 'observes', why: 'only a hook with transform: true changes the result' }
  return { state: 'decides', why: '' }
}

function appliesTo(agents: readonly string[], tenant: string, agent: string): boolean {
  const id = agentId(tenant, agent)
  return agents.some((each) => each === agent || agentId(tenant, each) === id)
}

/** The hook files that were looked at, with the number of hooks that each has in force. */
export function listEffectiveFiles({ snapshot, files }: HooksInForce): EffectiveFile[] {
  const folders = (snapshot?.hooks.list() ?? []).map(({ id = '' }) => snapshot?.find(id)?.folder)
  return files.map(({ level, folder, file, state, problem }) => ({
    level,
    folder,
    file: file ?? null,
    state,
    hooks: folders.filter((each) => each === folder).length,
    problem,
  }))
}
