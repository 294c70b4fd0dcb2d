import { type HookDefinition, readHandlerConfig } from '../../src/engine/hook-definition.ts'
import { builtInHandlers } from '../../src/handlers/handlers.ts'

/** Checks the config of a hook against the schema of its handler and prepares it, as registering the hook does. */
export function prepareConfig(hook: HookDefinition): unknown {
  const handler = builtInHandlers().get(hook.handler_type)
  if (handler === undefined) throw new Error(`no handler ${hook.handler_type}`)
  return readHandlerConfig(handler, hook)
}
