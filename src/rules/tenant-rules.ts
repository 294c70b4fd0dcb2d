import { LRUCache } from 'lru-cache'
import { MASTER_TENANT } from '../access/tenant-tables.ts'
import { errorText } from '../engine/core/errors/error.ts'
import { type RuleGroup, readRecoveryRule, storedGroup } from './files/recovery-rules.ts'
import type { RuleFolders } from './files/rule-file-paths.ts'
import type { KnownRuleFile, RuleFiles } from './files/rule-files.ts'
import type { RecoveryRule } from './files/rule-schema.ts'
import type { RuleRow, RuleStore } from './stored/rule-tables.ts'

const MAX_TENANTS = 2_000

/** The rules in force for the events of a tenant. */
export interface TenantRules {
  /** Synchronous if the stored rules of the tenant are loaded. */
  groupsOf(tenant: string, folders?: RuleFolders): readonly RuleGroup[] | Promise<readonly RuleGroup[]>
  /** Every rule file that the gateway knows; none if it reads no files. */
  files(): readonly KnownRuleFile[]
  /** Makes the next event read the stored rules again. */
  forget(tenant: string): void
}

/** Only a gateway on the machine of its user reads files. */
export function createTenantRules(parts: {
  readonly store: Pick<RuleStore, 'listRules'>
  readonly files?: RuleFiles
  maxChainDepthOf(tenant: string): number | undefined
}): TenantRules {
  const { store, files } = parts
  const loaded = new LRUCache<string, RuleGroup | Promise<RuleGroup>>({ max: MAX_TENANTS })
  const load = async (tenant: string): Promise<RuleGroup> => {
    const rows = await store.listRules(tenant)
    const rules = rows.flatMap((row) => readStoredRule(row).rule ?? [])
    return storedGroup(rules, parts.maxChainDepthOf(tenant))
  }
  const storedOf = (tenant: string): RuleGroup | Promise<RuleGroup> => {
    const known = loaded.get(tenant)
    if (known !== undefined) return known
    const loading = load(tenant)
    loaded.set(tenant, loading)
    const settle = (group?: RuleGroup) => {
      // A change in between has dropped this load.
      if (loaded.peek(tenant) !== loading) return
      if (group === undefined) loaded.delete(tenant)
      else loaded.set(tenant, group)
    }
    loading.then(settle, () => settle())
    return loading
  }
  return {
    groupsOf(tenant, folders) {
      const ofFiles = files === undefined || folders === undefined ? [] : files.groupsOf(folders)
      const stored = storedOf(tenant)
      return stored instanceof Promise ? stored.then((group) => [group, ...ofFiles]) : [stored, ...ofFiles]
    },
    files: () => files?.known() ?? [],
    forget(tenant) {
      // Settings of the master tenant apply to all.
      if (tenant === MASTER_TENANT) loaded.clear()
      else loaded.delete(tenant)
    },
  }
}

/** A stored rule as it applies, or why it cannot be used. */
export function readStoredRule({ rule_id, definition, enabled }: RuleRow): {
  readonly rule?: RecoveryRule
  readonly problem?: string
} {
  if (definition === null) return { problem: 'the key that encrypted the rule is gone' }
  try {
    return { rule: readRecoveryRule({ ...definition, id: rule_id, enabled }) }
  } catch (thrown) {
    return { problem: errorText(thrown) }
  }
}
