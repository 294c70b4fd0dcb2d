import type { BaseHook } from '../../engine/core/hook.ts'
import { childEnvironment, resolveDirectory } from '../../safe/process/child-environment.ts'
import type { CommandConfig } from './config.ts'
import { Worker, type WorkerOptions } from './worker.ts'

/** The workers of all hooks. */
export class Workers {
  readonly #workers = new Map<string, Worker>()
  readonly #root: string | undefined
  readonly #options: WorkerOptions | undefined

  constructor(root: string | undefined, options: WorkerOptions | undefined) {
    this.#root = root
    this.#options = options
  }

  async of({ argv, cwd, allowedEnv }: CommandConfig, { id }: BaseHook): Promise<Worker> {
    // By content, so that a reloaded hook finds the worker of its former self.
    const key = JSON.stringify([id, argv, cwd, allowedEnv])
    const known = this.#workers.get(key)
    if (known !== undefined) return known
    const directory = cwd === undefined ? {} : { cwd: await resolveDirectory(cwd, this.#root) }
    const env = childEnvironment(allowedEnv, { HOOKHELM_WORKER: '1' })
    const worker = this.#workers.get(key) ?? new Worker({ argv, env, ...directory }, this.#options)
    this.#workers.set(key, worker)
    return worker
  }

  async dispose(): Promise<void> {
    const all = [...this.#workers.values()]
    this.#workers.clear()
    await Promise.all(all.map((worker) => worker.dispose()))
  }
}
