import { findClient, type HookClient } from '../agents/client/find-client.ts'
import { serverError } from '../engine/core/server-errors.ts'

/** The client that was asked for, or the best there is. */
export function chooseClient(kind: HookClient['kind'] | undefined): HookClient {
  // Where there is no package and no build, the one for Node is found.
  const client = kind === 'node' ? findClient({ from: '/nowhere/x.js', root: '/nowhere' }) : findClient()
  if (kind === undefined || client.kind === kind) return client
  throw serverError('connect.agent', 'there is no native client for this machine', {
    hint: 'Build it with `npm run build:native`, or leave --client out.',
  })
}
