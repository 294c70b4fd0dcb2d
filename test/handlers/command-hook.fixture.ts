import { onTestFinished } from 'vitest'
import type { Envelope } from '../../src/engine/core/context.ts'
import type { Decision } from '../../src/engine/core/decision.ts'
import type { BaseHook } from '../../src/engine/core/hook.ts'
import { type CommandHandlerOptions, commandHandler } from '../../src/handlers/command/command.ts'
import { createHooks, type Hooks } from '../../src/index.ts'
import { type Recorder, recorder } from '../../src/testing/recorder.ts'

interface Scene {
  readonly hooks: Hooks
  readonly seen: Recorder
  /** Dispatches a tool call, or what the hook listens to. */
  ask(payload?: Readonly<Record<string, unknown>>, envelope?: Envelope): Promise<Decision>
  /** What the last command reported. */
  facts(): Readonly<Record<string, unknown>>
  dispose(): Promise<void>
}

/** One command hook on pre_tool_use, unless the definition says otherwise. */
export function commandHook(
  config: Readonly<Record<string, unknown>>,
  definition: Partial<BaseHook> = {},
  options: CommandHandlerOptions = {},
): Scene {
  const handler = commandHandler.create(options)
  const seen = recorder()
  const hooks = createHooks({ handlers: [handler], sink: seen.sink, log: seen.log, breaker: false })
  // The name comes from a test, which knows what it may dispatch.
  const event = (definition.event ?? 'pre_tool_use') as 'pre_tool_use'
  hooks.add({ id: 'hook', handler_type: 'command', ...definition, event, config })
  onTestFinished(() => handler.dispose())
  return {
    hooks,
    seen,
    ask: (payload = {}, envelope = {}) =>
      hooks.dispatch(event, { tool_name: 'Bash', tool_input: {}, ...payload }, envelope, { trace: true }),
    facts: () => seen.dispatches.at(-1)?.executions[0]?.facts ?? {},
    dispose: () => handler.dispose(),
  }
}
