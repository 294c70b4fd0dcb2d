import type { JSONValue, ToolExecutionOptions, ToolResultPart } from 'ai'
import { systemClock } from '../../engine/core/clock.ts'
import { errorText } from '../../engine/core/error.ts'
import { type AgentHooks, blocked } from '../agent-hooks.ts'
import { copyWith, inputRecord } from '../clone-for-hooks.ts'
import { turnEnvelope } from './model-request.ts'
import type { AiToolDecision, AiToolGate, AnyTool } from './tool-gate.ts'

type Options = ToolExecutionOptions<unknown>
type Execute = (input: unknown, options: Options) => unknown

interface ToolResult {
  readonly toolCallId: string
  readonly input: unknown
  readonly output: unknown
}

interface ToolGuardContext {
  readonly agentHooks: AgentHooks
  readonly gate: AiToolGate
}

/** Wraps a tool: hooks decide before it runs and see its result. A tool without `execute` stays as it is. */
export function guardedTool<T extends AnyTool>(
  toolName: string,
  tool: T,
  { agentHooks, gate }: ToolGuardContext,
): T {
  if (typeof tool.execute !== 'function') return tool
  // Context of hooks by the input object of the call, until `toModelOutput` reads it.
  const notes = new WeakMap<object, readonly string[]>()

  const execute: Execute = (input, options) => {
    const stored = gate.take(input)
    // A streaming tool must return its stream synchronously.
    if (stored !== undefined) return run(stored, input, options)
    const { toolCallId, messages, abortSignal: signal } = options
    const asked = gate.ask({ toolName, toolCallId, input, tool, takesRewrite: true, messages, signal })
    return asked.then(async (answer) => {
      signal?.throwIfAborted()
      if (answer.kind === 'ask')
        throw blocked(`this needs a person's approval, which was not requested: ${answer.message}`)
      return lastOf(run(answer, input, options))
    })
  }

  function run(decision: AiToolDecision, given: unknown, options: Options): unknown {
    if (decision.kind === 'block') throw blocked(decision.message)
    const since = systemClock.elapsed()
    const call = {
      tool_name: toolName,
      tool_input: inputRecord(decision.input),
      tool_use_id: options.toolCallId,
    }
    const about = {
      envelope: { ...turnEnvelope(agentHooks, options.messages), toolCall: options.toolCallId },
    }
    const add = (context: readonly string[] = []) => {
      if (context.length > 0 && isObject(given)) notes.set(given, [...(notes.get(given) ?? []), ...context])
    }
    add(decision.context)

    const done = async (tool_response: unknown): Promise<unknown> => {
      const duration_ms = Math.round(systemClock.elapsed() - since)
      const after = await agentHooks.transform(
        'post_tool_use',
        { ...call, tool_response, duration_ms },
        about,
      )
      add(after.context)
      return after.input === undefined ? tool_response : structuredClone(after.input)
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
      result = (tool.execute as Execute).call(tool, decision.input, options)
    } catch (thrown) {
      return failed(thrown)
    }
    return isAsyncIterable(result) ? following(result) : Promise.resolve(result).then(done, failed)
  }

  const toModelOutput = async (result: ToolResult): Promise<ToolOutput> => {
    const output = await (tool.toModelOutput?.(result) ?? defaultToolOutput(result.output))
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

type ToolOutput = ToolResultPart['output']

/** The SDK's default for tools without `toModelOutput`. */
function defaultToolOutput(output: unknown): ToolOutput {
  if (typeof output === 'string') return { type: 'text', value: output }
  const text: string | undefined = JSON.stringify(output)
  const value: JSONValue = text === undefined ? null : JSON.parse(text)
  return { type: 'json', value }
}

/** Appends the context of hooks to a result. */
function outputWithContext(output: ToolOutput, context: readonly string[]): ToolOutput {
  const notes = context.join('\n')
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${output.value}\n\n${notes}` }
    case 'json':
      return {
        type: 'content',
        value: [
          { type: 'text', text: JSON.stringify(output.value) },
          { type: 'text', text: notes },
        ],
      }
    case 'content':
      return { ...output, value: [...output.value, { type: 'text', text: notes }] }
    default:
      return output
  }
}
