import { createRequire } from 'node:module'
import { HookError } from '../errors/error.ts'

/**
 * Loads a module of ours by its path, synchronously, because registering a hook is synchronous. `from` is the `import.meta.url` of
 * the caller, `path` has no extension: from source it is TypeScript.
 */
export function loadOwnModule<T>(from: string, path: string): T {
  try {
    const loaded: T = createRequire(from)(path + from.slice(from.lastIndexOf('.')))
    return loaded
  } catch (cause) {
    throw new HookError('config.bundled', `${path} cannot be loaded`, { cause })
  }
}
