import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorText } from '../engine/core/errors/error.ts'
import { handlerError } from '../engine/core/errors/handler-errors.ts'
import { looseObject } from '../engine/core/schema/more-schemas.ts'
import { readIfValid } from '../engine/core/schema/read-checked.ts'
import { type SchemaType, schema } from '../engine/core/schema/schema.ts'
import { stableJson } from '../engine/core/values/stable-json.ts'
import { writePrivateFile } from '../safe/write-private-file.ts'
import { trustFile } from './hook-folders.ts'
import { lineDiff } from './line-diff.ts'
import { loadFile } from './read/load-file.ts'

const MAX_BYTES = 64 * 1_048_576
/** What the model reads about a tool, and what decides how it is called. */
const PINNED = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const

/** JSON with sorted keys, so that a change can be shown, and its hash. */
const definition = { sha256: schema.text(), definition: schema.text() }
/** `changed`: another definition that the server sends since then. */
const pinnedTool = looseObject({ ...definition, changed: schema.optional(looseObject(definition)) })
const storedPins = looseObject({
  version: schema.integer(1, 1),
  server: schema.text(),
  tools: schema.map(pinnedTool),
})
type StoredPins = SchemaType<typeof storedPins>

/** A changed tool of a server. */
export interface PinnedToolChange {
  readonly tool: string
  readonly diff: string
  readonly isNew: boolean
}

/** The accepted tool definitions of one MCP server, in a file of the user. */
export interface ToolPinStore {
  readonly server: string
  compare(
    tools: readonly Readonly<Record<string, unknown>>[],
    serverName: string | undefined,
  ): readonly PinnedToolChange[]
  isChanged(tool: string): boolean
  /** The tools that changed and were not accepted. */
  changes(): readonly PinnedToolChange[]
  /** Accepts all changes. */
  accept(): void
  /** Forgets the server, so that its next definitions count as accepted. */
  forget(): void
}

/**
 * The store for a server. `target` is its command line or address and identifies it together with the name that the
 * user gave it: a server that changes its own name stays the same server. Only a hash of it is stored, because a command
 * line may contain secrets.
 */
export function openToolPins(
  target: string,
  givenName: string | undefined,
  folder = pinFolder(),
): ToolPinStore {
  const id = createHash('sha256')
    .update(stableJson([givenName, target]))
    .digest('hex')
  return pinStore(join(folder, `${id.slice(0, 32)}.json`), givenName)
}

/** The stores of all servers with this name. */
export function toolPinsOf(server: string, folder = pinFolder()): readonly ToolPinStore[] {
  return filesIn(folder)
    .map((file) => pinStore(file, undefined))
    .filter((store) => store.server === server)
}

function pinFolder(): string {
  return join(dirname(trustFile()), 'mcp-tools')
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^[\da-f]{32}\.json$/.test(name))
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}

function pinStore(file: string, givenName: string | undefined): ToolPinStore {
  return {
    get server() {
      return readPins(file).server
    },
    compare(tools, serverName) {
      const stored = readPins(file)
      const merged = withTools(stored, tools)
      const server = givenName ?? serverName ?? stored.server
      const isSame = stableJson(merged.tools) === stableJson(stored.tools) && server === stored.server
      if (!isSame) writePins(file, { ...merged, server })
      return changesOf(merged, stored)
    },
    isChanged: (tool) => ownTool(readPins(file), tool)?.changed !== undefined,
    changes: () => {
      const stored = readPins(file)
      return changesOf(stored, stored)
    },
    accept() {
      const stored = readPins(file)
      const tools = Object.entries(stored.tools).map(([name, tool]) => [name, tool.changed ?? tool])
      writePins(file, { ...stored, tools: Object.fromEntries(tools) })
    },
    forget: () => rmSync(file, { force: true }),
  }
}

/** The first definition of a tool is accepted. The accepted definition coming back ends a change. */
function withTools(pins: StoredPins, tools: readonly Readonly<Record<string, unknown>>[]): StoredPins {
  const known = new Map(Object.entries(pins.tools))
  for (const tool of tools) {
    if (typeof tool.name !== 'string') continue
    const definition = stableJson(Object.fromEntries(PINNED.map((key) => [key, tool[key]])))
    const sha256 = createHash('sha256').update(definition).digest('hex')
    const { changed: _, ...accepted } = known.get(tool.name) ?? { sha256, definition }
    const isAccepted = accepted.sha256 === sha256
    known.set(tool.name, isAccepted ? accepted : { ...accepted, changed: { sha256, definition } })
  }
  return { ...pins, tools: Object.fromEntries(known) }
}

function changesOf(now: StoredPins, before: StoredPins): readonly PinnedToolChange[] {
  return Object.entries(now.tools).flatMap(([tool, { definition, changed }]) => {
    if (changed === undefined) return []
    const isNew = ownTool(before, tool)?.changed?.sha256 !== changed.sha256
    return [{ tool, isNew, diff: lineDiff(pretty(definition), pretty(changed.definition)) }]
  })
}

function ownTool({ tools }: StoredPins, name: string) {
  return Object.hasOwn(tools, name) ? tools[name] : undefined
}

function pretty(definition: string): string {
  return JSON.stringify(JSON.parse(definition), undefined, 2)
}

function readPins(file: string): StoredPins {
  try {
    const loaded = loadFile(file, 'user', { maxBytes: MAX_BYTES })
    if (loaded === undefined) return { version: 1, server: 'unknown', tools: {} }
    const stored = readIfValid(storedPins, JSON.parse(loaded.text))
    if (stored !== undefined) return stored
  } catch (error) {
    throw handlerError('trust.store', `${file} cannot be used: ${errorText(error)}`, { cause: error })
  }
  throw handlerError('trust.store', `${file} cannot be used: it is not a list of tools of version 1`)
}

function writePins(file: string, stored: StoredPins): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const text = `${JSON.stringify(stored, undefined, 2)}\n`
  if (text.length > MAX_BYTES) throw handlerError('trust.store', `the server has too many tools for ${file}`)
  try {
    writePrivateFile(file, text)
  } catch (error) {
    throw handlerError('trust.store', `${file} cannot be written: ${errorText(error)}`, { cause: error })
  }
}
