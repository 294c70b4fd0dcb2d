import { cruise } from 'dependency-cruiser'
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'

export interface ArrowResult {
  readonly modules: readonly string[]
  /** One readable line each, with the name of the rule in front. */
  readonly violations: readonly string[]
}

const options = await extractOptions('./.dependency-cruiser.mjs')
const forbidden = options.ruleSet?.forbidden ?? []

/** The paths that some arrow rules. */
export function arrowRules(): string[] {
  return forbidden.filter((rule) => rule.name?.startsWith('arrow: ')).map((rule) => String(rule.from.path))
}

/** Reads every import below `<root>/src`. */
export async function followArrows(root: string): Promise<ArrowResult> {
  const { output } = await cruise(['src'], { ...options, baseDir: root })
  if (typeof output === 'string') throw new Error('dependency-cruiser answered text instead of modules')
  const why = new Map(forbidden.map((rule) => [rule.name, rule.comment]))
  return {
    modules: output.modules.filter((module) => !module.couldNotResolve).map((module) => module.source),
    violations: output.summary.violations.map(({ rule, from, to, cycle }) => {
      const path = cycle ? cycle.map((step) => step.name).join(' → ') : to
      return [`[${rule.name}] ${from} → ${path}`, why.get(rule.name)].filter(Boolean).join('; ')
    }),
  }
}
