import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Caller } from '../../access/caller.ts'
import { isDemoTenant } from '../../access/demo-tenants.ts'
import type { Envelope } from '../../engine/core/context.ts'
import { HookError } from '../../engine/core/errors/error.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { Edition } from '../../engine/core/values/edition.ts'
import type { SessionFolders } from './session-folders.ts'
import type { AgentFolders } from './snapshot.ts'

/** Whose gateway this is. */
interface GatewayOwner {
  readonly edition: Edition
  /** The tenant of the machine's user. */
  readonly defaultTenant: string
}

/** No repository: only the files of the administrator and the user apply, whatever a call touches. */
export const NO_FOLDER: AgentFolders = { cwd: '/', start: '/', touched: [] }

/**
 * Whether events of this caller may name a folder of this machine. Only a lite gateway reads hook files, and only the
 * tenant of its user may choose whose: another tenant's token must not start commands in a folder of its choice.
 */
export function mayNameFolders({ tenant }: Caller, { edition, defaultTenant }: GatewayOwner): boolean {
  return edition === 'lite' && tenant === defaultTenant
}

/** Whether hook files of this machine apply to the tenant. Scripted agents of the demo must not start their commands. */
export function usesHookFiles(tenant: string, edition: Edition): boolean {
  return edition === 'lite' && !isDemoTenant(tenant)
}

/** Finds the folders whose hook files apply to an event, from its `cwd` and the folder where its session began. */
export type EventFolders = (
  caller: Caller,
  envelope: Envelope,
  payload: unknown,
) => AgentFolders | undefined | Promise<AgentFolders>

export function createEventFolders(owner: GatewayOwner, sessionFolders: SessionFolders): EventFolders {
  return (caller, envelope, payload) => {
    if (!usesHookFiles(caller.tenant, owner.edition)) return undefined
    if (!mayNameFolders(caller, owner)) return NO_FOLDER
    const cwd = realFolder(envelope.cwd ?? folderIn(payload))
    const { session, agent = '' } = envelope
    if (session === undefined) return { cwd, start: cwd }
    return sessionFolders
      .startOf({ tenant: caller.tenant, agent, session }, cwd)
      .then((start) => ({ cwd: cwd === '/' ? start : cwd, start }))
  }
}

function folderIn(payload: unknown): string | undefined {
  return isRecord(payload) && typeof payload.cwd === 'string' ? payload.cwd : undefined
}

/** The longest path that any system allows. */
const MAX_PATH = 4_096

/** Resolves symbolic links: a link into a repository must not bypass the hooks of that repository. */
export function realFolder(cwd: string | undefined): string {
  if (cwd === undefined || !isAbsolute(cwd) || cwd.includes('\0')) return '/'
  if (cwd.length > MAX_PATH)
    throw new HookError('input.schema', `cwd must have at most ${MAX_PATH} characters`, { at: 'cwd' })
  try {
    return realpathSync.native(cwd)
  } catch {
    // The folder does not exist or is not accessible.
    return cwd
  }
}
