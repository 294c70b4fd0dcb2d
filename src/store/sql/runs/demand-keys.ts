import { createHash } from 'node:crypto'
import type { RunDemands, RunnerOffer } from '../../stores/run-store.ts'

/** The demands that need the exact value of the runner. */
type ExactDemands = Pick<RunDemands, 'hostname' | 'project_dir' | 'executor_profile' | 'executor_type'>

/**
 * Demands as texts that an index can search: a runner finds the runs with its own keys and does not read the others. The
 * keys are hashes, so that they have no separator in them and a long path does not make the index large.
 */
interface DemandKeys {
  readonly demand_key: string
  /** The keys of the tags, sorted and separated by commas. */
  readonly tag_keys: string
}

export function demandKeys(demands: RunDemands): DemandKeys {
  return { demand_key: exactKey(demands), tag_keys: tagKeys(demands.tags ?? []) }
}

/** The keys of all demands that the runner meets: each exact demand may be there or not. */
export function offerKeys(offer: RunnerOffer): { readonly demand_keys: string; readonly tag_keys: string } {
  const keys = allDemands(offer).map(exactKey)
  return { demand_keys: [...new Set(keys)].join(), tag_keys: tagKeys(offer.tags) }
}

function allDemands(offer: RunnerOffer): readonly ExactDemands[] {
  const { hostname, project_dir, executor_profile, executor_type } = offer
  const exact: readonly ExactDemands[] = [
    { hostname },
    { project_dir },
    { executor_profile },
    { executor_type },
  ]
  return exact.reduce<readonly ExactDemands[]>(
    (demands, one) => demands.flatMap((others) => [others, { ...others, ...one }]),
    [{}],
  )
}

function exactKey(demands: ExactDemands): string {
  const { hostname = '', project_dir = '', executor_profile = '', executor_type = '' } = demands
  return shortHash([hostname, project_dir, executor_profile, executor_type])
}

function tagKeys(tags: readonly string[]): string {
  return [...new Set(tags.map((tag) => shortHash([tag])))].sort().join()
}

/** 132 bits. */
function shortHash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)
}
