import { type CodingAgent, codingAgentNames } from '../engine/core/coding-agents.ts'
import type { HandlerCall } from '../engine/core/handler.ts'
import { isRecord } from '../engine/core/schema/check.ts'
import type { PayloadShape, ShapedEvent } from '../engine/core/schema/payload-shape.ts'
import { schema } from '../engine/core/schema/schema.ts'
import { configError } from './handler-type.ts'
import { toWireEvent, type WireEvent } from './wire-event.ts'

/** The fields of a handler's config that choose the form of the event. */
export const payloadFields = {
  payload: schema.choice(
    codingAgentNames,
    'The agent that the hook was written for: events have the form, the variables and the exit codes of that agent.',
  ),
  payload_event: schema.text(
    'The agent’s own name of the event, if it has several for this event: `beforeShellExecution`.',
  ),
}

/** Finds the form of an agent by name. */
export type FindPayloadShape = (name: string) => PayloadShape | undefined

/** The form that a hook asks for. */
export interface ConfiguredShape {
  readonly shape: PayloadShape
  readonly nativeEvent: string | undefined
}

/** Throws if the form cannot be used, so that a hook never runs with a payload that it cannot read. */
export function readPayloadSettings(
  {
    payload,
    payload_event: nativeEvent,
    format = 'hookhelm',
  }: { readonly payload?: CodingAgent; readonly payload_event?: string; readonly format?: string },
  find: FindPayloadShape | undefined,
): ConfiguredShape | undefined {
  if (payload === undefined) {
    if (nativeEvent === undefined) return undefined
    throw configError('payload_event', 'config.payload_event needs config.payload')
  }
  if (format !== 'hookhelm')
    throw configError('payload', `config.payload cannot be used with the format ${format}`)
  const shape = find?.(payload)
  if (shape === undefined)
    throw configError('payload', `this program does not know the payload of ${payload}`)
  return { shape, nativeEvent }
}

type Call = HandlerCall<{ readonly shape: ConfiguredShape | undefined }>

/** The event as the hook receives it, and how its answer is understood. */
export interface OutgoingEvent {
  readonly event: WireEvent
  readonly env: Readonly<Record<string, string>>
  /** The call with the payload that the hook saw, for reading its answer. */
  readonly seen: Pick<HandlerCall<unknown>, 'payload' | 'context' | 'hook'>
  /** Converts a readable answer from the agent's form to ours. */
  readResult(result: unknown): unknown
}

/**
 * Gives the event the form that the hook asks for. `project` is the folder that the agent's variables name if the event
 * does not say where its session began; by default the folder of the session.
 */
export function outgoingEvent(call: Call, project?: string): OutgoingEvent {
  const { config, payload, context } = call
  if (config.shape === undefined)
    return { event: toWireEvent(payload, context), env: {}, seen: call, readResult: (result) => result }
  const { shape, nativeEvent } = config.shape
  const { envelope } = context
  const named = project === undefined ? envelope : { project, ...envelope }
  const { event, time } = context
  const shaped = shape.shape(payload, { event, time, envelope: named }, nativeEvent)
  return {
    event: shaped.payload,
    env: shaped.env,
    seen: { payload: shaped.payload, context, hook: call.hook },
    readResult: (result) => readShapedResult(result, shape, shaped, event),
  }
}

const afterTool = ['post_tool_use', 'post_tool_use_failure']
const beforeTool = ['pre_tool_use', 'permission_request']

function readShapedResult(result: unknown, shape: PayloadShape, shaped: ShapedEvent, event: string): unknown {
  if (!isRecord(result)) return result
  if (result.kind === 'block' && afterTool.includes(event)) return readFeedback(result, shape, event)
  if (result.input === undefined || !beforeTool.includes(event)) return result
  return { ...result, input: shaped.readInput(result.input) }
}

/** The call has already run, so the agent gives the reason to the model instead of blocking. */
function readFeedback(block: Readonly<Record<string, unknown>>, shape: PayloadShape, event: string): unknown {
  const text = block.message ?? block.reason
  return shape.afterToolBlock === 'output' && event === 'post_tool_use'
    ? { kind: 'allow', input: text }
    : { kind: 'allow', context: [text] }
}
