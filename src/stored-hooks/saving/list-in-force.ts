import type { Caller } from '../../access/caller.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { mayNameFolders } from '../snapshots/event-folders.ts'
import type { EffectiveFile, EffectiveHook } from './effective-hook-schema.ts'
import {
  type EffectiveRequest,
  type HooksInForce,
  joinChains,
  listEffectiveFiles,
  listEffectiveHooks,
} from './effective-hooks.ts'

export const inForceParts = ['hooksInForce', 'hookFolders', 'edition', 'defaultTenant'] as const

type InForceParts = Pick<MethodParts, (typeof inForceParts)[number]>

/** Each folder is loaded as if an agent worked there, so a list reads only so many. */
const MAX_FOLDERS = 32

interface ListedInForce {
  readonly problem: string
  readonly hooks: readonly EffectiveHook[]
  readonly files: readonly EffectiveFile[]
  /** The folders with hooks of their own. */
  readonly folders: readonly string[]
}

/** Every hook in force for a caller, wherever it comes from and wherever it counts. */
export async function listEverywhere(
  caller: Caller,
  parts: InForceParts,
  about: Pick<EffectiveRequest, 'event' | 'agent' | 'hookId'> = { event: undefined, agent: undefined },
): Promise<ListedInForce> {
  const request = { tenant: caller.tenant, edition: parts.edition, ...about }
  const found = await readEverywhere(caller, parts)
  const files = found.flatMap(({ inForce }) => listEffectiveFiles(inForce))
  const problems = found.flatMap(({ folder, inForce: { problem } }) =>
    problem === '' ? [] : [folder === undefined ? problem : `in ${folder}: ${problem}`],
  )
  return {
    problem: problems.join('\n'),
    hooks: joinChains(found.map(({ inForce }) => listEffectiveHooks(inForce, request))),
    files: [...new Map(files.map((file) => [file.folder, file])).values()],
    folders: found.flatMap(({ folder }) => folder ?? []),
  }
}

interface FoundInForce {
  readonly folder: string | undefined
  readonly inForce: HooksInForce
}

/** The hooks without a folder, then those of each folder that has some. */
export async function readEverywhere(caller: Caller, parts: InForceParts): Promise<readonly FoundInForce[]> {
  const { tenant } = caller
  const folders = mayNameFolders(caller, parts) ? parts.hookFolders(tenant) : []
  return Promise.all(
    [undefined, ...folders.slice(0, MAX_FOLDERS)].map(async (folder) => ({
      folder,
      inForce: await parts.hooksInForce(tenant, folder),
    })),
  )
}
