import { modelTools } from '../executor.ts'
import type { RunStore } from '../stored/run-tables.ts'

/** The agent of runs and recovery rules that name none. */
export const GENERAL_PURPOSE = 'general-purpose'

/** The blueprints that come with the product. One that is saved under such a name replaces it. */
export const builtinBlueprintNames: readonly string[] = [GENERAL_PURPOSE]

type Definition = Readonly<Record<string, unknown>>

/** The definition of a blueprint that comes with the product. It names no executor: every runner of autonomous agents takes it. */
export function builtinBlueprint(name: string): Definition | undefined {
  if (name !== GENERAL_PURPOSE) return undefined
  return {
    name,
    type: 'autonomous',
    description: 'An agent for any task. Runs and recovery rules that name no other agent start it.',
    system_prompt:
      'You do the task that the prompt describes. If earlier work failed, find the cause first. Finish what can be finished safely, change nothing else, and report what you did.',
    tools: modelTools,
  }
}

/** The definition of an agent: the stored one, else the one that comes with the product. */
export async function findDefinition(
  store: Pick<RunStore, 'findBlueprint'>,
  { tenant, name }: { readonly tenant: string; readonly name: string },
): Promise<Definition | undefined> {
  const row = await store.findBlueprint(tenant, name)
  return row?.definition ?? builtinBlueprint(name)
}
