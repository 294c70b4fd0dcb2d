import { isRecord } from '../../engine/core/check.ts'
import { HookError } from '../../engine/core/error.ts'
import { blueprints } from './blueprints.ts'
import { claudeCode } from './claude-code/claude-code.ts'
import { attempt, type Foreign, type ImportResult, importForeign } from './foreign.ts'
import { goClaw } from './goclaw/goclaw.ts'
import { qualityGates } from './goclaw/quality-gates.ts'
import { hookChains } from './hook-chains.ts'
import { openHarness } from './openharness/openharness.ts'
import { openHarnessSeed } from './openharness/seed.ts'

const readers = {
  'openharness-seed': (value: unknown) => attempt(value, openHarnessSeed),
  openharness: (value: unknown) => attempt(value, openHarness),
  'claude-code': (value: unknown) => attempt(value, claudeCode()),
  'hook-chains': hookChains,
  blueprints,
  goclaw: goClaw,
  'quality-gates': qualityGates,
}

export type FormatName = keyof typeof readers
export const formatNames = Object.keys(readers)

/** Imports a file in the named format, or in the one its shape shows. */
export function importFile(given: Foreign, format?: FormatName): ImportResult {
  return importForeign(given, (value) => {
    const name = format ?? formatOf(value)
    if (name !== undefined) return readers[name](value)
    const error = new HookError('config.field', 'this is none of the formats that can be imported', {
      hint: `Name the format: ${formatNames.join(', ')}.`,
    })
    return { found: [{ path: [], part: 'value', error }] }
  })
}

/** The formats tell one another apart by what their hooks are listed under. */
export function formatOf(value: unknown): FormatName | undefined {
  if (Array.isArray(value)) return isRecord(value[0]) && 'handler_type' in value[0] ? 'goclaw' : 'blueprints'
  if (!isRecord(value)) return undefined
  if ('quality_gates' in value || isRecord(value.other_config)) return 'quality-gates'
  if ('hookChains' in value || 'rules' in value) return 'hook-chains'
  const { hooks } = value
  if ('name' in value) return 'blueprints'
  if (Array.isArray(hooks))
    return isRecord(hooks[0]) && 'handler_type' in hooks[0] ? 'goclaw' : 'openharness-seed'
  return isRecord(hooks) ? ofEventLists(hooks) : undefined
}

function ofEventLists(hooks: Record<string, unknown>): FormatName {
  const grouped = Object.values(hooks).some(
    (list) => Array.isArray(list) && isRecord(list[0]) && 'hooks' in list[0],
  )
  return grouped ? 'claude-code' : 'openharness'
}
