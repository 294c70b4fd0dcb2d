import { HookError } from '../../engine/core/errors/error.ts'
import { readSchema, type SchemaProblem } from '../../engine/core/schema/schema.ts'
import { catalogue } from '../../engine/events/catalogue.ts'
import { createNameResolver } from '../../engine/events/event-names.ts'
import { compileRules, type RuleSet } from '../compile-rules.ts'
import {
  completeConfig,
  DEFAULT_CHAIN_DEPTH,
  type RecoveryConfig,
  type RecoveryRule,
  recoveryConfigSchema,
  recoveryRuleSchema,
  unwrapHookChains,
} from './rule-schema.ts'

/** The trigger of rules that react to hooks which fail. It is no event of its own: no hook can listen to it. */
export const HOOK_FAILURE = 'hook_failure'

const resolveName = createNameResolver(catalogue)

/** Rules that belong together: those of a tenant in the database, or those of one file. */
export interface RuleGroup {
  /** `stored`, or the path of the file. */
  readonly source: string
  readonly ruleSet: RuleSet<RecoveryRule>
  readonly maxChainDepth: number
  readonly defaultCooldownMs: number
  readonly defaultDedupWindowMs: number
}

/** The canonical name of a trigger. Throws `input.unknown_event` with the nearest name. */
export function resolveTrigger(name: string): string {
  return name === HOOK_FAILURE ? name : resolveName(name)
}

/** Checks a rule as it is saved. Throws a coded error that names the first problem. */
export function readRecoveryRule(given: unknown): RecoveryRule {
  const { value, problems } = readSchema(recoveryRuleSchema, given)
  if (problems.length > 0) throw schemaError(problems, [])
  return withResolvedTrigger({ enabled: true, ...value }, 'trigger.event')
}

/** Checks the content of a hook-chains file. A file that is switched off has no rules in force. */
export function readRecoveryConfig(content: unknown): RecoveryConfig {
  const { value, path } = unwrapHookChains(content)
  const { value: read, problems } = readSchema(recoveryConfigSchema, value)
  if (problems.length > 0) throw schemaError(problems, path)
  const config = completeConfig(read)
  const rules = config.rules.map((rule, index) =>
    withResolvedTrigger(rule, [...path, 'rules', index, 'trigger', 'event'].join('.')),
  )
  return { ...config, rules }
}

function withResolvedTrigger(rule: RecoveryRule, at: string): RecoveryRule {
  try {
    return { ...rule, trigger: { ...rule.trigger, event: resolveTrigger(rule.trigger.event) } }
  } catch (thrown) {
    if (!(thrown instanceof HookError)) throw thrown
    throw new HookError('input.unknown_event', thrown.message, { at, hint: thrown.hint })
  }
}

function schemaError(problems: readonly SchemaProblem[], path: readonly string[]): HookError {
  const texts = problems.map((problem) => {
    const at = [...path, ...problem.path].join('.')
    return { at, text: at === '' ? problem.message : `${at}: ${problem.message}` }
  })
  const at = texts[0]?.at ?? ''
  const message = texts.map(({ text }) => text).join('; ')
  return new HookError('config.field', message, at === '' ? {} : { at })
}

/** The group of a file. */
export function fileGroup(source: string, config: RecoveryConfig): RuleGroup {
  const { maxChainDepth, defaultCooldownMs, defaultDedupWindowMs } = config
  const ruleSet = compileRules(config.enabled ? config.rules : [])
  return { source, ruleSet, maxChainDepth, defaultCooldownMs, defaultDedupWindowMs }
}

export const STORED = 'stored'

/** The group of stored rules. */
export function storedGroup(rules: readonly RecoveryRule[], maxChainDepth = DEFAULT_CHAIN_DEPTH): RuleGroup {
  const { defaultCooldownMs, defaultDedupWindowMs } = completeConfig({})
  return {
    source: STORED,
    ruleSet: compileRules(rules),
    maxChainDepth,
    defaultCooldownMs,
    defaultDedupWindowMs,
  }
}
