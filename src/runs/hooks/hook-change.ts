import { answersWithText, checkOutput, checkParameters } from '../blueprints/blueprint.ts'
import { requireBlueprint } from '../create-run.ts'
import type { RunResult } from '../run-events.ts'
import type { RunParts } from '../run-parts.ts'
import type { RunRow } from '../stored/run-tables.ts'
import type { RunHookPoint } from './run-hook-points.ts'

type Fields = Readonly<Record<string, unknown>>
type BlueprintParts = Pick<RunParts, 'store' | 'edition'>

/** What is wrong with the input that a hook made; undefined if the run can go on with it. */
export async function problemOfChange(
  parts: BlueprintParts,
  { run, point }: { readonly run: RunRow; readonly point: RunHookPoint },
  change: Fields,
): Promise<string | undefined> {
  if (point === 'on_run_start') return problemOfParameters(parts, run, change)
  return point === 'on_result' ? problemOfResult(parts, run, change) : undefined
}

async function problemOfParameters(
  parts: BlueprintParts,
  run: RunRow,
  parameters: Fields,
): Promise<string | undefined> {
  // A message to an idle session has no schema.
  if (run.type !== 'start_session') return undefined
  const blueprint = await requireBlueprint(parts, run.tenant_id, run.agent_name ?? '')
  const [violation] = checkParameters(blueprint, parameters)
  return violation && `changed the parameters so that ${violation.path || 'they'} ${violation.message}`
}

const resultKeys: readonly string[] = ['result_text', 'result_data'] satisfies readonly (keyof RunResult)[]

async function problemOfResult(
  parts: BlueprintParts,
  run: RunRow,
  change: Fields,
): Promise<string | undefined> {
  const unknown = Object.keys(change).find((key) => !resultKeys.includes(key))
  if (unknown !== undefined) return `returned a result with the unknown key ${unknown.slice(0, 80)}`
  const { result_text: text, result_data: data } = change
  if (text !== undefined && text !== null && typeof text !== 'string')
    return 'returned a result_text that is not text'
  const blueprint = await requireBlueprint(parts, run.tenant_id, run.agent_name ?? '')
  if (answersWithText(blueprint))
    return typeof text === 'string' ? undefined : 'returned a result without result_text'
  if (data === undefined) return 'returned a result without result_data'
  const [violation] = checkOutput(blueprint, data)
  return violation && `changed the result so that ${violation.path || 'it'} ${violation.message}`
}
