import { randomUUID } from 'node:crypto'
import { type ModelMessage, modelMessageSchema, type ToolModelMessage } from 'ai'
import { serverError } from '../../../engine/core/errors/server-errors.ts'
import { MESSAGES_EVENT, type NewSessionEvent } from '../../run-events.ts'

/** Messages of a model as an event of its session holds them. */
export interface StoredMessages {
  readonly run_id: string | null
  /** One execution of a run. If a run is executed again, only the last execution counts. */
  readonly execution: string
  /** How many messages before these stay. */
  readonly from: number
  readonly messages: readonly unknown[]
}

/** Keeps the messages of a model in its session, so that a later run can continue. */
export interface ModelHistory {
  add(messages: readonly ModelMessage[]): void
  /** Replaces all messages, those of earlier runs included. */
  replace(messages: readonly ModelMessage[]): void
}

/** A request to the gateway holds one mebibyte at most. */
const MAX_EVENT = 200_000

export function createModelHistory(
  earlier: readonly ModelMessage[],
  keep: (event: NewSessionEvent) => void,
): ModelHistory {
  const execution = randomUUID()
  let length = earlier.length
  const write = (messages: readonly ModelMessage[]) => {
    for (const group of groupBySize(messages.map(shortenParts))) {
      keep({ event_type: MESSAGES_EVENT, data: { execution, from: length, messages: group } })
      length += group.length
    }
  }
  return {
    add: write,
    replace(messages) {
      length = 0
      write(messages)
    },
  }
}

/** The messages that the earlier runs of a session left. Throws if some are missing or cannot be read. */
export function readModelHistory(events: readonly StoredMessages[], ownRun: string): ModelMessage[] {
  const others = events.filter(({ run_id }) => run_id !== ownRun)
  const executions = new Map(others.map(({ run_id, execution }) => [run_id, execution]))
  let history: unknown[] = []
  for (const { run_id, execution, from, messages } of others) {
    if (executions.get(run_id) !== execution) continue
    if (from > history.length) throw incompleteHistory()
    history = [...history.slice(0, from), ...messages]
  }
  return history.map((message) => {
    const { success, data } = modelMessageSchema.safeParse(message)
    if (!success) throw incompleteHistory()
    return data
  })
}

function incompleteHistory() {
  return serverError(
    'gateway.conflict',
    'the messages of this session are incomplete, so it cannot be resumed',
    {
      hint: 'Start a new session, with what the agent must know in its parameters.',
    },
  )
}

function groupBySize(messages: readonly ModelMessage[]): ModelMessage[][] {
  const groups: ModelMessage[][] = []
  let size = 0
  for (const message of messages) {
    const length = JSON.stringify(message).length
    const group = groups.at(-1)
    if (group === undefined || size + length > MAX_EVENT) {
      groups.push([message])
      size = length
    } else {
      group.push(message)
      size += length
    }
  }
  return groups
}

/** Cuts what is too long to keep: the model can call a tool again. */
function shortenParts(message: ModelMessage): ModelMessage {
  if (JSON.stringify(message).length <= MAX_EVENT) return message
  const max = Math.floor(MAX_EVENT / (message.content.length || 1))
  switch (message.role) {
    case 'system':
      return { ...message, content: cut(message.content, MAX_EVENT) }
    case 'tool':
      return { ...message, content: message.content.map((part) => shortenResult(part, max)) }
    case 'user':
      if (typeof message.content === 'string') return { ...message, content: cut(message.content, MAX_EVENT) }
      return { ...message, content: message.content.map((part) => shortenText(part, max)) }
    case 'assistant':
      if (typeof message.content === 'string') return { ...message, content: cut(message.content, MAX_EVENT) }
      return {
        ...message,
        content: message.content.map((part) =>
          part.type === 'tool-call' && JSON.stringify(part.input).length > max
            ? { ...part, input: { removed: cut(part.input, max) } }
            : shortenText(part, max),
        ),
      }
  }
}

type ToolPart = ToolModelMessage['content'][number]

function shortenResult(part: ToolPart, max: number): ToolPart {
  if (part.type !== 'tool-result' || JSON.stringify(part.output).length <= max) return part
  const { output } = part
  return {
    ...part,
    output: { type: 'text', value: cut(output.type === 'text' ? output.value : output, max) },
  }
}

function shortenText<P extends { readonly type: string }>(part: P, max: number): P {
  return 'text' in part && typeof part.text === 'string' ? { ...part, text: cut(part.text, max) } : part
}

function cut(value: unknown, max: number): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= max ? text : `${text.slice(0, max)} … (${text.length} characters)`
}
