import { z } from 'zod'
import { isRecord } from '../../engine/core/check.ts'
import { checkRules } from '../read/check-rules.ts'
import { resolveCatalogueName } from '../read/read-hook-file.ts'
import { type RuleSet, ruleSetSchema } from '../schema/rules.ts'
import {
  attempt,
  type Foreign,
  type Format,
  type ImportResult,
  importForeign,
  type Translation,
} from './foreign.ts'

/** A file of recovery rules, bare or wrapped in `hookChains`. Rules stay what they are; one bad rule refuses them all. */
export function importHookChains(given: Foreign): ImportResult {
  return importForeign(given, hookChains)
}

export function hookChains(value: unknown) {
  return isRecord(value) && 'hookChains' in value ? attempt(value, wrapped) : attempt(value, bare)
}

const bare: Format<RuleSet> = {
  schema: ruleSetSchema,
  ignoresUnknownKeys: true,
  also: (value) => checkRules(value, resolveCatalogueName),
  translate: kept,
}

const wrapped: Format<{ hookChains: RuleSet }> = {
  schema: z.strictObject({ hookChains: ruleSetSchema }),
  ignoresUnknownKeys: true,
  also: (value) => {
    const found = checkRules(isRecord(value) ? value.hookChains : undefined, resolveCatalogueName)
    return found.map((each) => ({ ...each, path: ['hookChains', ...each.path] }))
  },
  translate: ({ hookChains: rules }) => kept(rules),
}

function kept(rules: RuleSet): Translation {
  const empty = (rules.rules ?? []).length === 0
  return { rules, notes: empty ? ['there are no rules, so nothing will happen (enabled: false)'] : [] }
}
