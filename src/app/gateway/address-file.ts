import { rmSync } from 'node:fs'
import { readPrivate, writePrivate } from './home.ts'

/** Tells programs of the same user where the gateway listens, and who it is. Answers how to take it back. */
export function tellAddress(path: string, url: string): () => void {
  writePrivate(path, `${url} ${process.pid}\n`)
  return () => rmSync(path, { force: true })
}

/** Where the gateway of this folder listens; nothing when it has ended, however it did. */
export function toldAddress(path: string): string | undefined {
  const [url, pid] = readPrivate(path)?.trim().split(' ') ?? []
  return url !== undefined && isAlive(Number(pid)) ? url : undefined
}

function isAlive(pid: number): boolean {
  try {
    return Number.isInteger(pid) && pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}
