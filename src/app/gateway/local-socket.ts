import { tmpdir } from 'node:os'
import { dataFolder } from '../../config/find.ts'
import type { Door } from '../../gateway/door.ts'
import { socketPath } from '../../gateway/socket/socket-path.ts'
import { createSocketServer } from '../../gateway/socket/socket-server.ts'
import type { Undo } from './undo.ts'

interface Local {
  readonly door: Door
  readonly env: Readonly<Record<string, string | undefined>>
  readonly holdsLock: boolean
  readonly undo: Undo
}

const GRACE_MS = 3_000

/** Listens on the unix socket and answers its path; on systems without users there is none. */
export async function listenLocally(
  wanted: string | false | undefined,
  { door, env, holdsLock, undo }: Local,
): Promise<string | undefined> {
  const uid = process.getuid?.()
  if (wanted === false || uid === undefined) return undefined
  const places = { home: dataFolder(env), runtimeDir: env.XDG_RUNTIME_DIR, tempDir: tmpdir(), uid }
  const path = wanted ?? socketPath(places)
  const server = createSocketServer({ door, path, holdsLock, uid })
  await server.listen()
  undo.add(() => server.close(GRACE_MS))
  return path
}
