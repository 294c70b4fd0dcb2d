import { tmpdir } from 'node:os'
import { dataFolder } from '../../config/hook-folders.ts'
import type { Door } from '../../gateway/door.ts'
import { socketPath } from '../../gateway/socket/socket-path.ts'
import { createSocketServer } from '../../gateway/socket/socket-server.ts'

interface Local {
  readonly door: Door
  readonly env: Readonly<Record<string, string | undefined>>
  readonly holdsLock: boolean
}

export interface LocalSocket {
  readonly path: string
  close(graceMs: number): Promise<void>
}

/** Listens on the unix socket; on systems without users there is none. */
export async function listenLocally(
  wanted: string | false | undefined,
  { door, env, holdsLock }: Local,
): Promise<LocalSocket | undefined> {
  const uid = process.getuid?.()
  if (wanted === false || uid === undefined) return undefined
  const places = { home: dataFolder(env), runtimeDir: env.XDG_RUNTIME_DIR, tempDir: tmpdir(), uid }
  const path = wanted ?? socketPath(places)
  const server = createSocketServer({ door, path, holdsLock, uid })
  await server.listen()
  return { path, close: (graceMs) => server.close(graceMs) }
}
