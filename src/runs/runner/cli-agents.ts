import type { RunnableAgent } from '../../engine/core/coding-agents.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { isRecord } from '../../engine/core/schema/check.ts'
import type { NewSessionEvent } from '../run-events.ts'

/** What a coding agent is started with. */
export interface CliTask {
  readonly prompt: string
  readonly model?: string
  readonly systemPrompt?: string
  readonly tools?: readonly string[]
  /** The agent's own id of a session to continue. */
  readonly resume?: string
}

/** One thing that a line of output says. */
export type CliFact =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'event'; readonly event: NewSessionEvent }
  /** Text of the answer. A later one replaces it, unless it continues the one before; then it is also a message. */
  | { readonly kind: 'text'; readonly text: string; readonly continues?: boolean }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'done' }

/** How one coding agent runs without a terminal: its arguments, and its lines of JSON. */
export interface CliAgent {
  readonly program: string
  /** `stdin`: what the program reads; the prompt, where the agent takes it from there. */
  start(task: CliTask): { readonly args: readonly string[]; readonly stdin: string }
  read(line: Readonly<Record<string, unknown>>): readonly CliFact[]
}

type Fields = Readonly<Record<string, unknown>>
const fieldsIn = (value: unknown): Fields => (isRecord(value) ? value : {})
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')
const option = (name: string, value: string | undefined) => (value === undefined ? [] : [`${name}=${value}`])

/** The id of a session to continue comes from an agent, which must not choose options of the program. */
function sessionArgument<Id extends string | undefined>(id: Id): Id {
  if (id === undefined || /^[A-Za-z0-9][\w.:-]{0,199}$/.test(id)) return id
  throw handlerError('agent.failed', `${JSON.stringify(id.slice(0, 80))} is not the id of a session`)
}

const event = (event_type: string, data: Fields): CliFact => ({ kind: 'event', event: { event_type, data } })
const message = (content: string): CliFact => event('message', { role: 'assistant', content })
const failed = (error: unknown): CliFact => ({
  kind: 'failed',
  error: textIn(error) || textIn(fieldsIn(error).message) || 'the agent gave no reason',
})

/** Agents without an option for instructions get them in front of the prompt. */
function withInstructions({ prompt, systemPrompt }: CliTask): string {
  return systemPrompt === undefined ? prompt : `${systemPrompt}\n\n${prompt}`
}

const claudeCode: CliAgent = {
  program: 'claude',
  start: ({ prompt, model, systemPrompt, tools, resume }) => ({
    args: [
      ...['-p', '--output-format=stream-json', '--verbose'],
      ...option('--model', model),
      ...option('--append-system-prompt', systemPrompt),
      ...option('--allowedTools', tools?.join(',')),
      ...option('--resume', sessionArgument(resume)),
    ],
    stdin: prompt,
  }),
  read({ type, subtype, session_id, message: said, result, is_error }) {
    if (type === 'system' && subtype === 'init') return [{ kind: 'session', id: textIn(session_id) }]
    if (type === 'result')
      return is_error === true || subtype !== 'success'
        ? [failed(result || subtype)]
        : [{ kind: 'text', text: textIn(result) }, { kind: 'done' }]
    if (type !== 'assistant' && type !== 'user') return []
    const { content } = fieldsIn(said)
    return Array.isArray(content) ? content.flatMap((part) => readClaudePart(fieldsIn(part), type)) : []
  },
}

function readClaudePart(part: Fields, type: string): CliFact[] {
  const { text, id, name, input, tool_use_id, content, is_error } = part
  if (type === 'assistant' && part.type === 'text') return [message(textIn(text))]
  if (part.type === 'tool_use')
    return [event('pre_tool', { tool_name: name, tool_use_id: id, tool_input: input })]
  if (part.type !== 'tool_result') return []
  const outcome = is_error === true ? { error: content } : { tool_output: content }
  return [event('post_tool', { tool_use_id, ...outcome })]
}

const codex: CliAgent = {
  program: 'codex',
  start: (task) => ({
    args: [
      ...['exec', '--json', '--skip-git-repo-check'],
      ...option('--model', task.model),
      ...(task.resume === undefined ? [] : ['resume', sessionArgument(task.resume)]),
      '-',
    ],
    stdin: withInstructions(task),
  }),
  read({ type, thread_id, item, error, message: text }) {
    if (type === 'thread.started') return [{ kind: 'session', id: textIn(thread_id) }]
    if (type === 'turn.failed') return [failed(error)]
    if (type === 'turn.completed') return [{ kind: 'done' }]
    // It repeats the cause of a failed turn, and reports attempts that it repeats itself.
    if (type === 'error') return [event('warning', { content: text })]
    const isStart = type === 'item.started'
    return isStart || type === 'item.completed' ? readCodexItem(fieldsIn(item), isStart) : []
  },
}

function readCodexItem({ type, id, text, ...rest }: Fields, isStart: boolean): CliFact[] {
  if (type === 'agent_message')
    return isStart ? [] : [message(textIn(text)), { kind: 'text', text: textIn(text) }]
  if (type === 'reasoning' || type === 'error') return []
  const { command, aggregated_output: output, status, exit_code } = rest
  const about = { tool_name: type === 'command_execution' ? 'Bash' : type, tool_use_id: id }
  const tool_input = type === 'command_execution' ? { command } : rest
  if (isStart) return [event('pre_tool', { ...about, tool_input })]
  const outcome = status === 'failed' ? { error: output || status } : { tool_output: output ?? rest }
  return [event('post_tool', { ...about, ...outcome, ...(exit_code === undefined ? {} : { exit_code }) })]
}

const geminiCli: CliAgent = {
  program: 'gemini',
  start: (task) => ({
    args: [
      '--output-format=stream-json',
      ...option('--model', task.model),
      ...option('--resume', sessionArgument(task.resume)),
      `--prompt=${withInstructions(task)}`,
    ],
    stdin: '',
  }),
  read(line) {
    const { type, session_id, role, content, delta, tool_name, tool_id, parameters, status } = line
    if (type === 'init') return [{ kind: 'session', id: textIn(session_id) }]
    if (type === 'message' && role === 'assistant')
      return [{ kind: 'text', text: textIn(content), continues: delta === true }]
    if (type === 'tool_use')
      return [event('pre_tool', { tool_name, tool_use_id: tool_id, tool_input: parameters })]
    if (type === 'tool_result') {
      const outcome = status === 'error' ? { error: line.error } : { tool_output: line.output }
      // Text after a tool is a new answer.
      return [event('post_tool', { tool_use_id: tool_id, ...outcome }), { kind: 'text', text: '' }]
    }
    if (type !== 'result') return []
    return status === 'success' ? [{ kind: 'done' }] : [failed(line.error)]
  },
}

const opencode: CliAgent = {
  program: 'opencode',
  start: (task) => ({
    args: [
      ...['run', '--format=json'],
      ...option('--model', task.model),
      ...option('--session', sessionArgument(task.resume)),
      '--',
      withInstructions(task),
    ],
    stdin: '',
  }),
  read({ type, sessionID, part, error }) {
    const { text, tool, callID, state, reason } = fieldsIn(part)
    if (type === 'step_start') return [{ kind: 'session', id: textIn(sessionID) }]
    if (type === 'text') return [message(textIn(text)), { kind: 'text', text: textIn(text) }]
    if (type === 'tool_use') {
      const { input, output, status, error: problem } = fieldsIn(state)
      const about = { tool_name: tool, tool_use_id: callID }
      const outcome = status === 'error' ? { error: problem } : { tool_output: output }
      return [
        event('pre_tool', { ...about, tool_input: input }),
        event('post_tool', { ...about, ...outcome }),
      ]
    }
    if (type === 'error') return [failed(fieldsIn(fieldsIn(error).data).message ?? error)]
    return type === 'step_finish' && reason !== 'tool-calls' ? [{ kind: 'done' }] : []
  },
}

export const cliAgentTable: Readonly<Record<RunnableAgent, CliAgent>> = {
  'claude-code': claudeCode,
  codex,
  'gemini-cli': geminiCli,
  opencode,
}
