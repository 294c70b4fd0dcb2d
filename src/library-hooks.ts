import type { EventRows } from './engine/core/event.ts'
import { createHooks, type Hooks, type HooksOptions } from './engine/dispatch/hooks.ts'
import type { Catalogue } from './engine/events/catalogue.ts'
import { lazyAnalyzeShell } from './load-shell.ts'

/**
 * Creates a set of hooks.
 *
 * ```ts
 * const hooks = createHooks()
 * hooks.on('pre_tool_use', { matcher: 'Bash(rm -rf*)' }, () => block('no deletions'))
 * const decision = await hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: { command: 'ls' } })
 * ```
 *
 * The first hook that looks at shell commands loads `hookhelm/shell`. A program that is bundled into one file passes the analyser:
 * `createHooks({ shell: analyzeShell })`.
 */
// biome-ignore lint/complexity/noBannedTypes: without events of one's own it is exactly this type
export function createLibraryHooks<const E extends EventRows = {}>(
  options: HooksOptions<E> = {},
): Hooks<Catalogue & E> {
  return createHooks({ shell: lazyAnalyzeShell, ...options })
}
