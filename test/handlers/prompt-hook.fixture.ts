import { onTestFinished } from 'vitest'
import type { Provider } from '../../src/handlers/model/model-name.ts'
import { createModels } from '../../src/handlers/model/models.ts'
import { type PromptHandlerOptions, promptHandler } from '../../src/handlers/prompt/prompt.ts'
import { createHooks, type HookDefinition } from '../../src/index.ts'
import {
  type FakeAnswer,
  type FakeModel,
  fakeClock,
  recorder,
  startFakeModel,
} from '../../src/testing/index.ts'

export const providers: readonly Provider[] = ['anthropic', 'openai', 'google', 'openai-compatible']

/** Models of all four providers behind one fake server, reached with the real packages. */
export function modelsOf(fake: FakeModel, options: { only?: readonly Provider[]; default?: string } = {}) {
  const { only = providers, ...rest } = options
  const settings = only.map((each) => [each, { baseUrl: fake.url(each), apiKey: `key-of-${each}` }])
  return createModels({ fetch: globalThis.fetch, providers: Object.fromEntries(settings), ...rest })
}

export const decide = (input: unknown): FakeAnswer => ({ calls: [{ tool: 'decide', input }] })
export const allows: FakeAnswer = decide({ decision: 'allow', reason: 'harmless' })
export const blocks: FakeAnswer = decide({ decision: 'block', reason: 'dangerous' })

type Options = Partial<PromptHandlerOptions> & { readonly hook?: Partial<HookDefinition> }

/** A prompt hook, the fake model that it asks, and what was recorded. */
export async function createPromptTest(
  script: Parameters<typeof startFakeModel>[0]['script'],
  options: Options = {},
) {
  const { hook = {}, ...rest } = options
  const fake = await startFakeModel({ script })
  onTestFinished(() => fake.close())
  const seen = recorder()
  const clock = fakeClock()
  const handler = promptHandler.create({ models: modelsOf(fake), clock, log: seen.log, ...rest })
  const hooks = createHooks({ handlers: [handler], sink: seen.sink, log: seen.log, breaker: false })
  const { config, ...others } = hook
  const base = {
    id: 'judge',
    event: 'pre_tool_use',
    handler_type: 'prompt',
    matcher: 'Bash',
    config: { prompt_template: 'Refuse whatever deletes files.', ...(config as object) },
  }
  const undo = hooks.add({ ...base, ...others })
  const envelope = { tenant: 't', session: 's', turn: '1' }
  const call = (input: Record<string, unknown> = { command: 'ls' }, more: Record<string, unknown> = {}) =>
    hooks.dispatch('pre_tool_use', { tool_name: 'Bash', tool_input: input }, { ...envelope, ...more })
  const facts = () => seen.dispatches.at(-1)?.executions[0]?.facts
  const logged = (name: string) => seen.lines.filter((line) => line.name === name)
  return { fake, hooks, undo, handler, seen, clock, call, facts, logged, base }
}
