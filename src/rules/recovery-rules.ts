import type { z } from 'zod'
import { HookError } from '../engine/core/error.ts'
import { catalogue } from '../engine/events/catalogue.ts'
import { createNameResolver } from '../engine/events/event-names.ts'
import { compileRules, type RuleSet } from './compile-rules.ts'
import {
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
  const read = recoveryRuleSchema.safeParse(given)
  if (!read.success) throw schemaError(read.error, [])
  return withResolvedTrigger(read.data, 'trigger.event')
}

/** Checks the content of a hook-chains file. A file that is switched off has no rules in force. */
export function readRecoveryConfig(content: unknown): RecoveryConfig {
  const { value, path } = unwrapHookChains(content)
  const read = recoveryConfigSchema.safeParse(value)
  if (!read.success) throw schemaError(read.error, path)
  const rules = read.data.rules.map((rule, index) =>
    withResolvedTrigger(rule, [...path, 'rules', index, 'trigger', 'event'].join('.')),
  )
  return { ...read.data, rules }
}

function withResolvedTrigger(rule: RecoveryRule, at: string): RecoveryRule {
  try {
    return { ...rule, trigger: { ...rule.trigger, event: resolveTrigger(rule.trigger.event) } }
  } catch (thrown) {
    if (!(thrown instanceof HookError)) throw thrown
    throw new HookError('input.unknown_event', thrown.message, { at, hint: thrown.hint })
  }
}

function schemaError({ issues }: z.ZodError, path: readonly string[]): HookError {
  const texts = issues.map((issue) => {
    const at = [...path, ...issue.path.map(String)].join('.')
    return { at, text: at === '' ? issue.message : `${at}: ${issue.message}` }
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
  const { defaultCooldownMs, defaultDedupWindowMs } = recoveryConfigSchema.parse({})
  return {
    source: STORED,
    ruleSet: compileRules(rules),
    maxChainDepth,
    defaultCooldownMs,
    defaultDedupWindowMs,
  }
}
