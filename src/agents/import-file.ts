import {
  type ImportResult,
  type ImportSource,
  runImport,
  translateWith,
} from '../config/formats/import-format.ts'
import { isRecord } from '../engine/core/check.ts'
import { HookError } from '../engine/core/error.ts'
import type { AgentImporter } from './config/import-command-hooks.ts'
import { agentProfiles } from './table.ts'

/** The coding agents whose hooks can be imported. */
export const importableAgents: readonly string[] = agentProfiles
  .filter(({ importer }) => importer !== undefined)
  .map(({ adapter }) => adapter.name)

type LoadImporter = () => Promise<AgentImporter>

/** Importers of systems that are not coding agents; each loads with the first file of its format. */
const otherImporters: Readonly<Record<string, LoadImporter>> = {
  'openharness-seed': async () => {
    const { openHarnessSeed } = await import('../config/formats/openharness/seed.ts')
    return (value) => translateWith(value, openHarnessSeed)
  },
  openharness: async () => {
    const { openHarness } = await import('../config/formats/openharness/openharness.ts')
    return (value) => translateWith(value, openHarness)
  },
  goclaw: async () => (await import('../config/formats/goclaw/goclaw.ts')).goClaw,
  'quality-gates': async () => (await import('../config/formats/goclaw/quality-gates.ts')).qualityGates,
}

const importers: ReadonlyMap<string, LoadImporter> = new Map([
  ...Object.entries(otherImporters),
  ...agentProfiles.flatMap(({ adapter, importer }) =>
    importer === undefined ? [] : [[adapter.name, importer] as const],
  ),
])

/** Every format that `importFile` accepts by name. */
export const importFormats: readonly string[] = [...importers.keys()]

/** Formats that `importFile` recognises and refuses, because they hold no hooks. */
const refusedFormats: ReadonlyMap<string, string> = new Map([
  ['hook-chains', 'this file holds recovery rules (hook-chains), which are not hooks'],
  ['blueprints', 'this file holds agent blueprints, which are not hooks'],
])

/** Imports a file in the named format, or in the format that its content shows. */
export function importFile(given: ImportSource, format?: string): Promise<ImportResult> {
  return runImport(given, async (value) => {
    const name = format ?? detectFormat(value) ?? ''
    const load = importers.get(name)
    if (load !== undefined) return (await load())(value)
    const refusal = refusedFormats.get(name)
    const error =
      refusal === undefined
        ? new HookError('config.field', 'this file is in none of the formats that can be imported', {
            hint: `Name the format: ${importFormats.join(', ')}.`,
          })
        : new HookError('config.field', refusal, { hint: '`hookhelm import` translates hooks only.' })
    return { found: [{ path: [], part: 'value', error }] }
  })
}

/**
 * The format of a parsed file, or undefined if it is unknown. The files of most coding agents look alike, so they count
 * as Claude Code's.
 */
export function detectFormat(value: unknown): string | undefined {
  if (Array.isArray(value)) return isGoClawRow(value[0]) ? 'goclaw' : 'blueprints'
  if (!isRecord(value)) return undefined
  if ('quality_gates' in value || isRecord(value.other_config)) return 'quality-gates'
  if ('hookChains' in value || 'rules' in value) return 'hook-chains'
  const { hooks } = value
  if ('name' in value) return 'blueprints'
  if (Array.isArray(hooks)) return isGoClawRow(hooks[0]) ? 'goclaw' : 'openharness-seed'
  if (!isRecord(hooks)) return undefined
  const isGrouped = Object.values(hooks).some(
    (list) => Array.isArray(list) && isRecord(list[0]) && 'hooks' in list[0],
  )
  return isGrouped ? 'claude-code' : 'openharness'
}

function isGoClawRow(value: unknown): boolean {
  return isRecord(value) && 'handler_type' in value
}
