import { HookError } from '../../engine/core/errors/error.ts'
import type { Handler } from '../../engine/core/handler.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { Hooks } from '../../engine/dispatch/hooks.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'

/** The handler of stand-ins: it fails with the reason, so that the policy of the hook decides. */
export const brokenHandler: Handler<string> = {
  type: 'broken',
  read: (_, { config }) => (isRecord(config) ? String(config.why) : ''),
  run({ config, hook }) {
    throw new HookError('config.unknown_handler', `${hook.id} cannot be loaded: ${config}`)
  },
}

/**
 * Registers a stand-in for a hook that cannot be loaded. It keeps every field of the hook that can be read: without a
 * condition that cannot be read it applies to more events, never to fewer.
 */
export function registerStandIn(hooks: Hooks, group: string, definition: HookDefinition, why: string): void {
  const { id = '', event, handler_type: _, config: __, agent_ids, ...others } = definition
  let standIn: HookDefinition = { id, event, handler_type: 'broken', config: { why } }
  hooks.replace(group, [standIn])
  // `agent_ids` first: without them a scope of agents cannot be read.
  for (const [field, value] of Object.entries({ agent_ids, ...others })) {
    if (value === undefined) continue
    try {
      const more = { ...standIn, [field]: value }
      hooks.replace(group, [more])
      standIn = more
    } catch {
      // This field is why the hook cannot be loaded.
    }
  }
}
