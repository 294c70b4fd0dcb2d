import { HookError } from '../engine/core/errors/error.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import { type Recognition, recogniseHookMap } from '../hook-files/formats/format-signature.ts'
import {
  type ImportAttempt,
  type ImportResult,
  type ImportSource,
  runImport,
  translateWith,
} from '../hook-files/formats/import-format.ts'
import { hookFileSignatures } from './config/hook-file-signatures.ts'
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
    const { openHarnessSeed } = await import('../hook-files/formats/openharness/seed.ts')
    return (value) => translateWith(value, openHarnessSeed)
  },
  openharness: async () => {
    const { openHarness } = await import('../hook-files/formats/openharness/openharness.ts')
    return (value) => translateWith(value, openHarness)
  },
  goclaw: async () => (await import('../hook-files/formats/goclaw/goclaw.ts')).goClaw,
  'quality-gates': async () => (await import('../hook-files/formats/goclaw/quality-gates.ts')).qualityGates,
}

const importers: ReadonlyMap<string, LoadImporter> = new Map([
  ...Object.entries(otherImporters),
  ...agentProfiles.flatMap(({ adapter, importer }) =>
    importer === undefined ? [] : [[adapter.name, importer] as const],
  ),
])

/** Every format that `importFile` accepts by name. */
export const importFormats: readonly string[] = [...importers.keys()]

/** Imports a file in the named format, or in the one format that its content fits. */
export function importFile(given: ImportSource, format?: string): Promise<ImportResult> {
  return runImport(given, async (value, path) => {
    const name = format ?? detectFormat(value, path)
    if (name instanceof HookError) return refused(name)
    const load = importers.get(name)
    return load === undefined ? refused(unknownFormat(name)) : (await load())(value, path)
  })
}

function refused(error: HookError): ImportAttempt {
  return { found: [{ path: [], part: 'value', error }] }
}

function unknownFormat(name: string): HookError {
  return new HookError('config.field', `unknown format ${name}`, {
    hint: `Use one of ${importFormats.join(', ')}.`,
  })
}

/** Files that hold no hooks of another system, and what they hold. */
const otherContents: readonly (readonly [(value: unknown) => boolean, string])[] = [
  [isHookFile, 'this is a hook file of Hookhelm already'],
  [isRecoveryRules, 'this file holds recovery rules (hook-chains), which are not hooks'],
  [isBlueprint, 'this file holds agent blueprints, which are not hooks'],
]

/**
 * The format of a parsed file, or the error that says why there is not exactly one. The content decides; the path of the
 * file counts only between formats that fit equally.
 */
export function detectFormat(value: unknown, path = ''): string | HookError {
  const content = otherContents.find(([isContent]) => isContent(value))?.[1]
  if (content !== undefined)
    return new HookError('config.field', content, {
      hint: '`hookhelm import` translates hooks of other systems.',
    })
  const found = importFormats.map((name) => ({ name, recognition: recognise(value, name) }))
  const fitting = found.filter(({ recognition }) => recognition.fits).map(({ name }) => name)
  const usual = fitting.filter((name) => hookFileSignatures[name]?.usualFile.test(path))
  const [only] = fitting.length === 1 ? fitting : usual.length === 1 ? usual : []
  if (only !== undefined) return only
  return fitting.length === 0 ? noFormat(found) : severalFormats(fitting)
}

function severalFormats(names: readonly string[]): HookError {
  const flags = names.map((name) => `--from ${name}`)
  return new HookError('config.field', `this file fits several formats: ${names.join(', ')}`, {
    hint: `They differ in the payload and in the unit of timeouts. Decide with ${flags.join(' or ')}.`,
  })
}

function noFormat(found: readonly { readonly name: string; readonly recognition: Recognition }[]): HookError {
  const reasons = found.map(({ name, recognition }) =>
    recognition.fits ? name : `${name}: ${recognition.because}`,
  )
  return new HookError(
    'config.field',
    `this file is in none of the formats that can be imported (${reasons.join('; ')})`,
    { hint: `To see the problems in one format, name it: --from ${importFormats.join(' | ')}.` },
  )
}

function recognise(value: unknown, name: string): Recognition {
  const fits = recognisers[name]
  if (fits === undefined) return recogniseHookMap(value, name, hookFileSignatures)
  const because = fits(value)
  return because === undefined ? { fits: true } : { fits: false, because }
}

/** Formats with lists of rows. Each returns what is missing. */
const recognisers: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  goclaw: (value) =>
    isGoClawRow(rowsOf(value)?.[0]) ? undefined : 'there is no list of rows with a handler_type',
  'openharness-seed': (value) => {
    const [row] = rowsOf(value) ?? []
    return isRecord(value) && isRecord(row) && Array.isArray(row.events)
      ? undefined
      : 'there is no list `hooks` whose entries have `events`'
  },
  'quality-gates': (value) => {
    const holder = isRecord(value) && isRecord(value.other_config) ? value.other_config : value
    return isRecord(holder) && Array.isArray(holder.quality_gates)
      ? undefined
      : 'there is no list `quality_gates`'
  },
}

function rowsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  return isRecord(value) && Array.isArray(value.hooks) ? value.hooks : undefined
}

function isGoClawRow(value: unknown): boolean {
  return isRecord(value) && 'handler_type' in value
}

/** A list of hooks under a version. GoClaw's answers have no version next to them. */
function isHookFile(value: unknown): boolean {
  return (
    isRecord(value) && value.version === 1 && Array.isArray(value.hooks) && value.hooks.every(isGoClawRow)
  )
}

function isRecoveryRules(value: unknown): boolean {
  return isRecord(value) && ('hookChains' in value || Array.isArray(value.rules))
}

function isBlueprint(value: unknown): boolean {
  const first = Array.isArray(value) ? value[0] : value
  return isRecord(first) && typeof first.name === 'string' && !isGoClawRow(first)
}
