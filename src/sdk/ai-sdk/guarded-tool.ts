import type { ToolExecutionOptions } from 'ai'
import { systemClock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
import type { AgentHooks } from '../agent-hooks.ts'
import { copyWith, inputRecord } from '../clone-for-hooks.ts'
import { blocked } from '../refusal.ts'
import type { AiToolGate, AiToolVerdict, AnyTool } from './tool-gate.ts'
import { outputWithContext, type ToolOutput, usualOutput } from './tool-output.ts'
import { turnOf } from './turn.ts'

type Options = ToolExecutionOptions<unknown>
type Execute = (input: unknown, options: Options) => unknown

interface ToolResult {
  readonly toolCallId: string
  readonly input: unknown
  readonly output: unknown
}

interface Means {
  readonly agentHooks: AgentHooks
  readonly gate: AiToolGate
}

/** The same tool, which asks before it runs and tells what came of it. One that runs elsewhere stays as it is. */
export function guardedTool<T extends AnyTool>(toolName: string, tool: T, { agentHooks, gate }: Means): T {
  if (typeof tool.execute !== 'function') return tool
  // By the input that the SDK knows the call by; what hooks add is read when the result goes to the model.
  const notes = new WeakMap<object, readonly string[]>()

  const execute: Execute = (input, options) => {
    const verdict = gate.take(input)
    // Only who answers at once can answer with a stream of results.
    if (verdict !== undefined) return run(verdict, input, options)
    const { toolCallId, messages, abortSignal: signal } = options
    const asked = gate.ask({ toolName, toolCallId, input, tool, takesRewrite: true, messages, signal })
    return asked.then(async (answer) => {
      signal?.throwIfAborted()
      if (answer.kind === 'ask')
        throw blocked(`this needs a person's approval, and nobody was asked: ${answer.message}`)
      return lastOf(run(answer, input, options))
    })
  }

  function run(verdict: AiToolVerdict, given: unknown, options: Options): unknown {
    if (verdict.kind === 'block') throw blocked(verdict.message)
    const since = systemClock.elapsed()
    const call = {
      tool_name: toolName,
      tool_input: inputRecord(verdict.input),
      tool_use_id: options.toolCallId,
    }
    const about = { envelope: { ...turnOf(agentHooks, options.messages), toolCall: options.toolCallId } }
    const add = (context: readonly string[] = []) => {
      if (context.length > 0 && isObject(given)) notes.set(given, [...(notes.get(given) ?? []), ...context])
    }
    add(verdict.context)

    const done = async (tool_response: unknown): Promise<unknown> => {
      const duration_ms = Math.round(systemClock.elapsed() - since)
      const decision = await agentHooks.transform(
        'post_tool_use',
        { ...call, tool_response, duration_ms },
        about,
      )
      add(decision.context)
      return decision.input === undefined ? tool_response : structuredClone(decision.input)
    }
    const failed = async (thrown: unknown): Promise<never> => {
      const is_interrupt = options.abortSignal?.aborted ?? false
      const failure = { ...call, error: errorText(thrown), is_interrupt }
      const { context = [] } = await agentHooks.transform('post_tool_use_failure', failure, about)
      if (context.length === 0) throw thrown
      throw new Error([errorText(thrown), ...context].join('\n\n'), { cause: thrown })
    }
    async function* following(results: AsyncIterable<unknown>): AsyncGenerator<unknown> {
      let last: unknown
      try {
        for await (last of results) yield last
      } catch (thrown) {
        return failed(thrown)
      }
      const final = await done(last)
      if (final !== last) yield final
    }

    let result: unknown
    try {
      result = (tool.execute as Execute).call(tool, verdict.input, options)
    } catch (thrown) {
      return failed(thrown)
    }
    return isAsyncIterable(result) ? following(result) : Promise.resolve(result).then(done, failed)
  }

  const toModelOutput = async (result: ToolResult): Promise<ToolOutput> => {
    const output = await (tool.toModelOutput?.(result) ?? usualOutput(result.output))
    const context = isObject(result.input) ? notes.get(result.input) : undefined
    return context === undefined ? output : outputWithContext(output, context)
  }

  return copyWith(tool, { execute, toModelOutput })
}

async function lastOf(result: unknown): Promise<unknown> {
  if (!isAsyncIterable(result)) return result
  let last: unknown
  for await (last of result);
  return last
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && Symbol.asyncIterator in value && typeof value[Symbol.asyncIterator] === 'function'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
