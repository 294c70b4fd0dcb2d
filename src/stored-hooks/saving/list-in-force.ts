import type { Caller } from '../../access/caller.ts'
import type { MethodParts } from '../../methods/method-parts.ts'
import { mayNameFolders } from '../snapshots/event-folders.ts'
import {
  type EffectiveRequest,
  joinChains,
  listEffectiveFiles,
  listEffectiveHooks,
} from './effective-hooks.ts'

export const inForceParts = ['hooksInForce', 'hookFolders', 'edition', 'defaultTenant'] as const

type InForceParts = Pick<MethodParts, (typeof inForceParts)[number]>

/** Each folder is loaded as if an agent worked there, so a list reads only so many. */
const MAX_FOLDERS = 32

/** Every hook in force for a caller, wherever it comes from and wherever it counts; `folders` have hooks of their own. */
export async function listEverywhere(
  caller: Caller,
  parts: InForceParts,
  about: Pick<EffectiveRequest, 'event' | 'agent' | 'hookId'> = { event: undefined, agent: undefined },
) {
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

/** The hooks without a folder, then those of each folder that has some. */
export async function readEverywhere(caller: Caller, parts: InForceParts) {
  const { tenant } = caller
  const folders = mayNameFolders(caller, parts) ? parts.hookFolders(tenant) : []
  return Promise.all(
    [undefined, ...folders.slice(0, MAX_FOLDERS)].map(async (folder) => ({
      folder,
      inForce: await parts.hooksInForce(tenant, folder),
    })),
  )
}
