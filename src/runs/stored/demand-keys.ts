import { createHash } from 'node:crypto'
import type { RunDemands, RunnerOffer } from './run-tables.ts'

/** The demands that need the exact value of the runner. */
type ExactDemands = Pick<RunDemands, 'hostname' | 'project_dir' | 'executor_profile' | 'executor_type'>

/**
 * Demands as texts that an index can search: a runner finds the runs with its own keys and does not read the others. The
 * keys are hashes, so that they have no separator in them and a long path does not make the index large. `demand_key` has the
 * exact demands and the first tag, so that a runner does not read runs whose first tag it does not have; `tag_keys` those of
 * all tags, sorted and separated by commas.
 */
export function demandKeys(demands: RunDemands) {
  const tags = tagKeys(demands.tags ?? [])
  return { demand_key: demandKey(demands, tags[0] ?? NO_TAG), tag_keys: tags.join() }
}

/** The keys of all demands that the runner meets: each exact demand may be there or not, and each tag may be the first. */
export function offerKeys(offer: RunnerOffer) {
  const tags = tagKeys(offer.tags)
  // A run that demands only tags of the runner, and at least one, matches.
  const firstTags = offer.require_matching_tags ? tags : [NO_TAG, ...tags]
  const keys = allDemands(offer).flatMap((demands) => firstTags.map((tag) => demandKey(demands, tag)))
  return { demand_keys: [...new Set(keys)].join(), tag_keys: tags.join() }
}

const NO_TAG = ''

function allDemands(offer: RunnerOffer): readonly ExactDemands[] {
  const { hostname, project_dir, executor_profile, executor_type } = offer
  // A runner that takes the executors of blueprints also takes autonomous agents that name none.
  const executorTypes = executor_type === 'command' ? ['command', 'autonomous'] : [executor_type]
  const exact: readonly (readonly ExactDemands[])[] = [
    [{ hostname }],
    [{ project_dir }],
    [{ executor_profile }],
    executorTypes.map((type) => ({ executor_type: type })),
  ]
  return exact.reduce<readonly ExactDemands[]>(
    (demands, ones) => demands.flatMap((others) => [others, ...ones.map((one) => ({ ...others, ...one }))]),
    [{}],
  )
}

function demandKey(demands: ExactDemands, firstTag: string): string {
  const { hostname = '', project_dir = '', executor_profile = '', executor_type = '' } = demands
  return shortHash([hostname, project_dir, executor_profile, executor_type, firstTag])
}

function tagKeys(tags: readonly string[]): readonly string[] {
  return [...new Set(tags.map((tag) => shortHash([tag])))].sort()
}

/** 132 bits. */
function shortHash(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22)
}
