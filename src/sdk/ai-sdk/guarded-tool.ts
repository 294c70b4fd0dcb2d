import type { JSONValue, ToolExecutionOptions, ToolResultPart } from 'ai'
import { errorText } from '../../engine/core/errors/error.ts'
import { type AgentHooks, blocked } from '../agent-hooks.ts'
import { copyWith } from '../clone-for-hooks.ts'
import { startTool } from '../tool-call.ts'
import { turnEnvelope } from './model-request.ts'
import type { AiToolDecision, AiToolGate, AnyTool } from './tool-gate.ts'

type Options = ToolExecutionOptions<unknown>
type Execute = (input: unknown, options: Options) => unknown

interface ToolResult {
  readonly toolCallId: string
  readonly input: unknown
  readonly output: unknown
}

/** Wraps a tool: hooks decide before it runs and see its result. A tool without `execute` stays as it is. */
export function guardedTool<T extends AnyTool>(
  name: string,
  tool: T,
  { agentHooks, gate }: { readonly agentHooks: AgentHooks; readonly gate: AiToolGate },
): T {
  if (typeof tool.execute !== 'function') return tool
  // Context of hooks by the input object of the call, until `toModelOutput` reads it.
  const notes = new WeakMap<object, readonly string[]>()

  const execute: Execute = (given, options) => {
    const stored = gate.take(given)
    // A streaming tool must return its stream synchronously.
    if (stored !== undefined) return run(stored, given, options)
    const { toolCallId, messages, abortSignal: signal } = options
    const call = { toolName: name, toolCallId, input: given, tool, takesRewrite: true, messages, signal }
    return gate.ask(call).then(async (answer) => {
      signal?.throwIfAborted()
      if (answer.kind === 'ask')
        throw blocked(`this needs a person's approval, which was not requested: ${answer.message}`)
      return lastOf(run(answer, given, options))
    })
  }

  function run({ kind, message, input, context }: AiToolDecision, given: unknown, options: Options): unknown {
    if (kind === 'block') throw blocked(message)
    const about = { envelope: turnEnvelope(agentHooks, options.messages) }
    const started = startTool(agentHooks, { name, id: options.toolCallId, input, about })
    const add = (added: readonly string[]) => {
      if (added.length > 0 && isObject(given)) notes.set(given, [...(notes.get(given) ?? []), ...added])
    }
    add(context)
    const done = async (response: unknown): Promise<unknown> => {
      const after = await started.done(response)
      add(after.context)
      return after.result
    }
    const failed = async (thrown: unknown): Promise<never> => {
      const after = await started.failed(errorText(thrown), options.abortSignal?.aborted ?? false)
      if (after.length === 0) throw thrown
      throw new Error([errorText(thrown), ...after].join('\n\n'), { cause: thrown })
    }
    try {
      const result = (tool.execute as Execute).call(tool, input, options)
      return isAsyncIterable(result)
        ? streamWithResult(result, done, failed)
        : Promise.resolve(result).then(done, failed)
    } catch (thrown) {
      return failed(thrown)
    }
  }

  const toModelOutput = async (result: ToolResult): Promise<ToolOutput> => {
    const output = await (tool.toModelOutput?.(result) ?? defaultToolOutput(result.output))
    const context = isObject(result.input) ? notes.get(result.input) : undefined
    return context === undefined ? output : outputWithContext(output, context)
  }

  return copyWith(tool, { execute, toModelOutput })
}

/** The results of a streaming tool. The last is the one that hooks see and may replace. */
async function* streamWithResult(
  results: AsyncIterable<unknown>,
  done: (result: unknown) => Promise<unknown>,
  failed: (thrown: unknown) => Promise<never>,
): AsyncGenerator<unknown> {
  let last: unknown
  try {
    for await (last of results) yield last
  } catch (thrown) {
    return failed(thrown)
  }
  const final = await done(last)
  if (final !== last) yield final
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
