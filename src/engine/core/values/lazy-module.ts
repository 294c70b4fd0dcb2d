import { createRequire } from 'node:module'
import { HookError } from '../errors/error.ts'

/**
 * A module of ours that loads with its first use, so that programs which never use it do not carry it. It loads synchronously,
 * because registering a hook is synchronous. `from` is the `import.meta.url` of the caller, `path` has no extension: from source it
 * is TypeScript.
 */
export function lazyModule<T>(from: string, path: string): () => T {
  let load = (): T => {
    try {
      const loaded: T = createRequire(from)(path + from.slice(from.lastIndexOf('.')))
      load = () => loaded
      return loaded
    } catch (cause) {
      throw new HookError('config.bundled', `${path} cannot be loaded`, { cause })
    }
  }
  return () => load()
}
