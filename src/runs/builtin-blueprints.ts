import { type Edition, runsCommands } from '../engine/core/edition.ts'
import type { RunStore } from '../store/stores/run-store.ts'
import { modelTools } from './executor.ts'

/** The agent that recovery rules start if they name none. */
export const GENERAL_PURPOSE = 'general-purpose'

type Definition = Readonly<Record<string, unknown>>

/**
 * The definition of a blueprint that comes with the product. In the standard edition a runner has to serve its profile,
 * because there a blueprint names no executor.
 */
function builtinBlueprint(name: string, edition: Edition): Definition | undefined {
  if (name !== GENERAL_PURPOSE) return undefined
  return {
    name,
    type: 'autonomous',
    description: 'An agent for any task. Recovery rules start it if they name no other.',
    system_prompt:
      'You take over work that did not end well. Find the cause, finish what can be finished safely, change nothing else, and report what you did.',
    tools: modelTools,
    executor: runsCommands(edition) ? { type: 'model' } : { profile: GENERAL_PURPOSE },
  }
}

/** The definition of an agent: the stored one, else the one that comes with the product. */
export async function findDefinition(
  store: Pick<RunStore, 'findBlueprint'>,
  { tenant, name, edition }: { readonly tenant: string; readonly name: string; readonly edition: Edition },
): Promise<Definition | undefined> {
  const row = await store.findBlueprint(tenant, name)
  return row?.definition ?? builtinBlueprint(name, edition)
}
