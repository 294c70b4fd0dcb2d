import type { HookContext } from './contexts.ts'
import type { HookEvent, HookResult, ObserveName, PluginHookName, SyncName } from './hook-shape.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement returns void
type Nothing = undefined | void
type Answer<K extends PluginHookName> = K extends ObserveName
  ? Promise<void> | void
  : K extends SyncName
    ? HookResult<K> | Nothing
    : Promise<HookResult<K> | Nothing> | HookResult<K> | Nothing

/** What a plugin registers for each hook. */
export type PluginHookHandlerMap = {
  [K in PluginHookName]: (event: HookEvent<K>, ctx: HookContext<K>) => Answer<K>
}

/** One handler of one plugin. Higher priorities run first. */
export type PluginHookRegistration<K extends PluginHookName = PluginHookName> = {
  [N in K]: {
    pluginId: string
    hookName: N
    handler: PluginHookHandlerMap[N]
    priority?: number
    timeoutMs?: number
    source: string
  }
}[K]

export type HookRunnerRegistry = {
  /** Hooks of the older kind: carried along, never run here. */
  hooks: unknown[]
  typedHooks: PluginHookRegistration[]
}

export type GlobalHookRunnerRegistry = HookRunnerRegistry & {
  plugins: Array<{ id: string; status: 'loaded' | 'disabled' | 'error' }>
}
