import { realpath, stat } from 'node:fs/promises'
import { resolve, sep } from 'node:path'
import { HookError } from '../../engine/core/error.ts'

/**
 * The directory to run in, with every link followed. With a root it must lie inside, or a link in a workspace would
 * lead a command anywhere.
 */
export async function checkDirectory(cwd: string, root: string | undefined): Promise<string> {
  const from = root ?? process.cwd()
  const real = await follow(resolve(from, cwd))
  if (root === undefined) return real
  const inside = await follow(root)
  if (real === inside || real.startsWith(inside.endsWith(sep) ? inside : inside + sep)) return real
  throw new HookError('process.cwd', `the directory ${cwd.slice(0, 200)} lies outside of the workspace`)
}

async function follow(path: string): Promise<string> {
  try {
    const real = await realpath(path)
    if ((await stat(real)).isDirectory()) return real
  } catch (cause) {
    throw new HookError('process.cwd', `there is no directory ${path.slice(0, 200)}`, { cause })
  }
  throw new HookError('process.cwd', `${path.slice(0, 200)} is not a directory`)
}
