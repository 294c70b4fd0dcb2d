import { z } from 'zod'
import { type Blueprint, blueprintSchema } from '../schema/blueprint.ts'
import { attempt, type Foreign, type ImportResult, importForeign, type Translation } from './foreign.ts'

/** Agent blueprints, one or a list. They stay what they are; their hooks run at the two ends of their runs. */
export function importBlueprints(given: Foreign): ImportResult {
  return importForeign(given, blueprints)
}

export function blueprints(value: unknown) {
  return Array.isArray(value)
    ? attempt(value, { schema: z.array(blueprintSchema), translate: kept })
    : attempt(value, { schema: blueprintSchema, translate: (blueprint) => kept([blueprint]) })
}

function kept(given: readonly Blueprint[]): Translation {
  return { blueprints: given, notes: given.flatMap(notes) }
}

function notes({ name, hooks }: Blueprint): string[] {
  return Object.entries(hooks ?? {}).flatMap(([point, hook]) => {
    if (!hook) return []
    const where = `${name}.${point}`
    const seconds = hook.timeout_seconds ?? 300
    return [
      ...(seconds < 1 ? [`${where}: a timeout of ${seconds} s ends the hook at once`] : []),
      ...(hook.agent_name === name
        ? [`${where}: the agent starts itself; only the depth limit ends that`]
        : []),
    ]
  })
}
