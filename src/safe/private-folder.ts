import { chmodSync, lstatSync, mkdirSync } from 'node:fs'

/** Creates a folder, whatever the umask is, that only this user can use. Throws if it belongs to another user or is a link. */
export function createPrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const found = lstatSync(path)
  if (!found.isDirectory()) throw new Error(`${path} is not a folder`)
  if (process.getuid !== undefined && found.uid !== process.getuid())
    throw new Error(`it belongs to user ${found.uid}`)
  if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700)
}
