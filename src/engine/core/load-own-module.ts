import { createRequire } from 'node:module'

/**
 * Loads a module of ours by its path, synchronously, because registering a hook is synchronous. `from` is the `import.meta.url` of
 * the caller, `path` has no extension: from source it is TypeScript.
 */
export function loadOwnModule<T>(from: string, path: string): T {
  const loaded: T = createRequire(from)(path + from.slice(from.lastIndexOf('.')))
  return loaded
}
