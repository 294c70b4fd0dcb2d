import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { NativePayload } from '../../src/agents/agent-adapter.ts'
import { importFile } from '../../src/agents/import-file.ts'
import { findAdapter, findPayloadShape } from '../../src/agents/table.ts'
import type { ToolNames } from '../../src/agents/translate/tool-names.ts'
import type { Envelope } from '../../src/engine/core/context.ts'
import type { Decision } from '../../src/engine/core/decision.ts'
import { createHandlers } from '../../src/handlers/handlers.ts'
import type { ImportedFile } from '../../src/hook-files/formats/import-format.ts'
import { createHooks, type Hooks } from '../../src/index.ts'
import { imported } from '../hook-files/imported.fixture.ts'

const files = join(import.meta.dirname, 'files')
/** The repository that the agents work in, with the scripts that the hooks name. */
const project = join(import.meta.dirname, 'project')

/** Every file below `files`, without the scripts of plugins. */
export function importableFiles(): readonly string[] {
  return readdirSync(files, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:json|yaml)$/.test(file))
    .toSorted()
}

export function importSource(file: string) {
  const path = join(files, file)
  return { text: readFileSync(path, 'utf8'), path }
}

export function importExample(file: string, format?: string): Promise<ImportedFile> {
  return imported(importFile(importSource(file), format))
}

/** The imported hooks of a file, ready to run. */
export async function hooksOf(file: string, format?: string): Promise<Hooks> {
  const { definitions } = await importExample(file, format)
  const models = { find: () => Promise.reject(new Error('no model in this test')) }
  const { handlers, dispose } = createHandlers({ models, findPayloadShape })
  const hooks = createHooks({ handlers, breaker: false })
  for (const [index, definition] of definitions.entries()) hooks.add({ id: `hook-${index}`, ...definition })
  onTestFinished(dispose)
  return hooks
}

type EventName = Parameters<Hooks['dispatch']>[0]

export interface AgentEvent {
  readonly event: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly envelope: Envelope
}

/** An event as an agent reports it: its own payload, read by its adapter. */
export function eventOfAgent(agent: string, event: string, payload: object): AgentEvent {
  const envelope = { session: 's', turn: 't', toolCall: 'c', cwd: project, project, host: 'a-program' }
  if (agent === 'claude-code')
    return { event, payload: { ...payload }, envelope: { ...envelope, host: agent } }
  const shape = findPayloadShape(agent)
  const adapter = findAdapter(agent)
  const native = shape?.shape(payload, { event, time: 0, envelope }, undefined).payload ?? {}
  const name = Object.entries(adapter?.events ?? {}).find(([, row]) => row.event === event)?.[0] ?? ''
  const reading = adapter?.read(name, { ...native, ...oneSpelling(adapter.tools, native) })
  return {
    event,
    payload: reading?.payload ?? {},
    envelope: { ...reading?.envelope, cwd: project, project, host: agent },
  }
}

/** One version of an agent uses one spelling of each argument. Recorded payloads use the agent's own, where it has one. */
function oneSpelling(tools: ToolNames, { tool_name, tool_input }: NativePayload): object {
  const keys = tools[String(tool_name)]?.keys
  if (keys === undefined || typeof tool_input !== 'object' || tool_input === null) return {}
  const spellings = Object.entries(keys)
  const kept = Object.entries(tool_input).filter(([key]) => {
    const same = spellings.filter(([, ours]) => ours === keys[key]).map(([theirs]) => theirs)
    return same.length < 2 || key === (same.find((theirs) => theirs !== keys[key]) ?? key)
  })
  return { tool_input: Object.fromEntries(kept) }
}

/** Dispatches an event that a table names. */
export function fire(hooks: Hooks, { event, payload, envelope }: AgentEvent): Promise<Decision> {
  // The name comes from a table of this folder.
  return hooks.dispatch(event as EventName, payload as never, envelope)
}
