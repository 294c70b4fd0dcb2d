import type { Handler } from '../engine/core/handler.ts'
import type { Log, Sink } from '../engine/core/records/sink.ts'
import { createHooks, type Hooks } from '../engine/dispatch/hooks.ts'
import { findHookFolders, trustFile } from '../hook-files/hook-folders.ts'
import { createTouchedFolders } from '../hook-files/touched-folders.ts'
import { type TrustStore, trustStore } from '../hook-files/trust.ts'
import { type HookFileWatch, watchHookFiles } from '../hook-files/watch/watch-hook-files.ts'
import { localHandlers } from './local-handlers.ts'
import { localShell } from './local-shell.ts'
import { placeFileHooks } from './place-file-hooks.ts'

/** `hookhelm/local`: the hook files of a directory, for a program that embeds an agent. */
export interface LocalOptions {
  readonly cwd?: string
  /** A tool call that is the only one: the hooks of other folders that it touches count too. */
  readonly call?: unknown
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly log?: Log
  readonly sink?: Sink
}

/** The hooks of one directory, as the files of administrator, user and repository say. */
export interface Local {
  readonly hooks: Hooks
  readonly handlers: readonly Handler[]
  readonly files: HookFileWatch
  readonly trust: TrustStore
  close(): Promise<void>
}

/** Loads the hook files and follows them. A file that cannot be used is an error that lists every problem. */
export async function openLocal({
  cwd = process.cwd(),
  call,
  env = process.env,
  log = () => {},
  sink,
}: LocalOptions = {}): Promise<Local> {
  const parts = localHandlers({ env, log })
  const { handlers, host } = parts
  const hooks = createHooks({
    handlers,
    host,
    log,
    shell: localShell,
    ...(sink === undefined ? {} : { sink }),
  })
  const trust = trustStore(trustFile(env))
  try {
    const findTouched = createTouchedFolders({ analyze: localShell, trust })
    const { touched } = findTouched(call, { cwd }, { cwd, start: cwd })
    const files = watchHookFiles({
      folders: findHookFolders({ cwd, touched, env, repositories: trust.repositories() }),
      apply(source, definitions) {
        const { folder, otherFolder } = source
        const placed =
          otherFolder === undefined ? definitions : placeFileHooks(definitions, source, { cwd, start: cwd })
        hooks.replace(folder, placed, source)
      },
      handlers,
      trust,
      log,
    })
    const close = async () => {
      files.close()
      await hooks.drain()
      await parts.dispose()
    }
    return { hooks, handlers, files, trust, close }
  } catch (error) {
    await parts.dispose()
    throw error
  }
}
