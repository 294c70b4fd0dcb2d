import { createHookRunner } from '../../src/openclaw/runner.ts'
import type { PluginHookContextOf } from '../../src/openclaw/shape/contexts.ts'
import type {
  GlobalHookRunnerRegistry,
  HookRunner,
  HookRunnerOptions,
  PluginHookRegistration,
} from '../../src/openclaw/shape/hook-runner.ts'
import type { PluginHookEventOf, PluginHookName } from '../../src/openclaw/shape/hook-shape.ts'

type Extra = Partial<Pick<PluginHookRegistration, 'pluginId' | 'priority' | 'timeoutMs'>>

/** A handler that may answer anything: what plugins return is not checked. */
export function on<K extends PluginHookName>(
  hookName: K,
  handler: (event: PluginHookEventOf<K>, ctx: PluginHookContextOf<K>) => unknown,
  extra: Extra = {},
): PluginHookRegistration {
  return { pluginId: 'plugin', hookName, handler, source: 'test', ...extra } as PluginHookRegistration
}

/** A host with these hooks, all plugins loaded, and all that its runner logs. */
export function hostWith(
  hooks: readonly PluginHookRegistration[],
  options: HookRunnerOptions = {},
): { registry: GlobalHookRunnerRegistry; runner: HookRunner; log: string[] } {
  const ids = new Set(hooks.map((hook) => hook.pluginId))
  const registry: GlobalHookRunnerRegistry = {
    plugins: [...ids].map((id) => ({ id, status: 'loaded' })),
    hooks: [],
    typedHooks: [...hooks],
  }
  const log: string[] = []
  const write = (level: string) => (line: string) => log.push(`${level} ${line}`)
  const logger = { debug: write('debug'), warn: write('warn'), error: write('error') }
  return { registry, log, runner: createHookRunner(registry, { logger, ...options }) }
}

export const toolEvent = { toolName: 'exec', params: { command: 'ls' } }
export const toolCtx = { toolName: 'exec' }
export const message = { to: 'u', content: 'hi' }
export const messageCtx = { channelId: 'forum' }
export const inbound = { content: 'hi', channel: 'forum', isGroup: false }
export const prompt = { prompt: 'hi', messages: [] }
export const never = () => new Promise<never>(() => {})
export function fail(text: string): never {
  throw new Error(text)
}
/** A handler that throws. */
export const boom = () => fail('boom')
